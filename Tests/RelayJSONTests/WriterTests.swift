import RelayJSON
import Testing

@Suite("Writing JSON")
struct WriterTests {
    @Test("Only quotes, backslashes and controls are escaped")
    func escapes() throws {
        let string = "\"\\/\u{8}\t\n\u{C}\r\u{0}\u{1F}\u{7F}é😀"
        let text = JSONValue.string(string).encoded()
        #expect(
            String(decoding: text, as: UTF8.self)
                == #""\"\\/\b\t\n\f\r\u0000\u001f"# + "\u{7F}é😀\""
        )
        #expect(try JSONValue(parsing: text) == .string(string))
    }

    @Test("A byte is written alike wherever it stands, and as long as was foretold", arguments: 0...40)
    func places(place: Int) {
        for byte in UInt8.min...UInt8.max {
            var text = Array("plain text with é and 😀 in its midst".utf8.prefix(40))
            text.insert(byte, at: min(place, text.count))
            var (whole, parts): ([UInt8], [UInt8]) = ([], [])
            JSONText.append(escaping: text.span, to: &whole)
            for index in text.indices {
                JSONText.append(escaping: text.span.extracting(index..<index + 1), to: &parts)
            }
            #expect(whole == parts && whole.count == JSONText.escapedLength(of: text.span))
            let room = text.count * JSONText.longestEscape + 2
            let placed = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                guard let first = buffer.baseAddress else { return }
                count = unsafe JSONText.write(escaping: text.span, to: first)
            }
            #expect(placed == whole)
        }
    }

    @Test("A value that is left out belongs between the two parts of its document")
    func gap() throws {
        var json = JSONObjectWriter()
        json.member("a", 1)
        json.object("b") { outer in
            outer.object("c") { inner in
                inner.member("d", 2)
                inner.gap("e")
            }
        }
        let (head, tail) = json.parts
        let whole = head + Array("[3]".utf8) + tail
        #expect(String(decoding: whole, as: UTF8.self) == #"{"a":1,"b":{"c":{"d":2,"e":[3]}}}"#)
    }

    @Test("Pretty text has a line for each member and element")
    func pretty() throws {
        let value = try JSONValue(parsing: Array(#"{"a":[1,{"b":[]}],"c":{}}"#.utf8))
        let expected = """
            {
              "a": [
                1,
                {
                  "b": []
                }
              ],
              "c": {}
            }
            """
        #expect(String(decoding: value.encodedPretty(), as: UTF8.self) == expected)
    }

    @Test("The object writer writes what the tree would")
    func objectWriter() throws {
        var writer = JSONObjectWriter()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "{}")
        writer.member("name", "x\n")
        writer.member("count", 3)
        writer.member("large", UInt64.max)
        writer.member("ratio", 0.5)
        writer.member("infinite", Double.infinity)
        writer.member("on", true)
        writer.member("tree", .array([.null]))
        writer.member("raw", json: Array("[1]".utf8))
        writer.object("inner") { inner in
            inner.member("a", 1)
            inner.array("list") { list in
                list.element("s")
                list.element(-1)
                list.element(.bool(false))
                list.element(json: Array("{}".utf8))
                list.object { $0.member("deep", 1) }
            }
            inner.object("empty") { _ in }
        }
        writer.member("last", "")
        let expected =
            #"{"name":"x\n","count":3,"large":18446744073709551615,"ratio":0.5,"infinite":null,"on":true,"#
            + #""tree":[null],"raw":[1],"inner":{"a":1,"list":["s",-1,false,{},{"deep":1}],"empty":{}},"last":""}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
        try JSONScan.validate(writer.bytes.span)
    }

    @Test("The array writer stands alone too")
    func arrayWriter() {
        var writer = JSONArrayWriter()
        writer.element(1)
        writer.element("a")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"[1,"a"]"#)
    }

    @Test("The bytes of a document move as it grows, and not with each object in it")
    func nesting() {
        let rows = 3_000
        var (moves, copies) = (Moves(), Moves())
        var json = JSONObjectWriter()
        json.array("rows") { list in
            for row in 0..<rows {
                list.object { object in
                    object.object("inner") { $0.member("row", row) }
                    moves.look(at: object)
                }
                moves.look(at: list)
            }
        }
        #expect(moves.count < 16)
        var copying = CopyingWriter(buffer: [])
        for _ in 0..<rows {
            copying.object { copies.look(at: $0) }
            copies.look(at: copying)
        }
        #expect(copies.count > rows, "the look sees a copy")
    }
}

/// How often the storage of a writer's bytes was another one than before.
private struct Moves {
    private(set) var count = 0
    private var last: UInt = 0

    /// A writer begins with its array, and an array is the address of its storage.
    mutating func look<Writer>(at writer: Writer) {
        let place = unsafe withUnsafeBytes(of: writer) { unsafe $0.load(as: UInt.self) }
        if place != last { (count, last) = (count + 1, place) }
    }
}

/// A writer that gives its bytes on while a second reference to them is left, so that each nesting copies them.
private struct CopyingWriter {
    var buffer: [UInt8]

    mutating func object(_ write: (inout CopyingWriter) -> Void) {
        var inner = CopyingWriter(buffer: buffer)
        inner.buffer.append(UInt8(ascii: "{"))
        write(&inner)
        buffer = inner.buffer
        buffer.append(UInt8(ascii: "}"))
    }
}

@Suite("Comparing JSON")
struct EquivalenceTests {
    @Test(
        "These mean the same",
        arguments: [
            ("1", "1.0"), ("1", "1e0"), ("100", "1e2"), ("1E+2", "100.000"), ("0", "-0"), ("0", "0e99"),
            ("0.001", "1e-3"), ("-12.50", "-1.25e1"), ("[1]", "[1.0]"),
            (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#),
            (#""\u0041""#, #""A""#), ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
            ("{}", "{}"), ("1e007", "1e7"),
        ]
    )
    func same(_ one: String, _ other: String) throws {
        let one = try JSONValue(parsing: Array(one.utf8))
        let other = try JSONValue(parsing: Array(other.utf8))
        #expect(one.isEquivalent(to: other))
        #expect(other.isEquivalent(to: one))
    }

    @Test(
        "These do not",
        arguments: [
            ("1", "-1"), ("1", "10"), ("1", "\"1\""), ("0", "false"), ("null", "false"), ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"), (#"{"a":1}"#, #"{"a":2}"#), (#"{"a":1}"#, #"{"b":1}"#), (#"{"a":1}"#, "{}"),
            (#"{"a":1}"#, #"{"a":1,"b":1}"#), ("1e99999999999999999998", "1e99999999999999999999"),
            ("123456789012345678901234567890", "123456789012345678901234567891"), ("\"é\"", "\"e\u{301}\""),
            ("0.1", "0.10000000000000000001"),
        ]
    )
    func different(_ one: String, _ other: String) throws {
        let one = try JSONValue(parsing: Array(one.utf8))
        let other = try JSONValue(parsing: Array(other.utf8))
        #expect(!one.isEquivalent(to: other))
        #expect(!other.isEquivalent(to: one))
    }

    @Test("A number is an integer only when it is written as one that fits")
    func integers() {
        #expect(JSONNumber(text: "9223372036854775807").int64 == .max)
        #expect(JSONNumber(text: "-9223372036854775808").int64 == .min)
        #expect(JSONNumber(text: "9223372036854775808").int64 == nil)
        #expect(JSONNumber(text: "1.0").int64 == nil)
        #expect(JSONNumber(text: "1.5").double == 1.5)
        #expect(JSONNumber(text: "1e999").double == nil)
    }
}
