import RelayJSON
import Testing

@Suite("JSON pointers")
struct PointerTests {
    /// The document of RFC 6901 §5, with an array inside an array added.
    static let text = Array(
        #"""
        {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
         " ": 7, "m~n": 8, "nested": [[10, 11], {"0": "zero", "-": "dash"}], "é": {"x": null}}
        """#.utf8
    )

    @Test(
        "Each leads to its value",
        arguments: [
            ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/foo/1", #""baz""#), ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"),
            ("/m~0n", "8"), ("/nested/0/1", "11"), ("/nested/1/0", #""zero""#), ("/nested/1/-", #""dash""#),
            ("/nested/0", "[10,11]"), ("/é/x", "null"), ("/é", #"{"x":null}"#),
        ]
    )
    func finds(_ pointer: String, _ json: String) throws {
        let pointer = try JSONPointer(parsing: pointer)
        let range = try #require(try JSONScan.locate([pointer], in: Self.text.span)[0])
        let expected = try JSONValue(parsing: Array(json.utf8))
        #expect(try JSONValue(parsing: Array(Self.text[range])) == expected)
        #expect(try JSONValue(parsing: Self.text).value(at: pointer) == expected)
    }

    @Test(
        "Nothing is found where nothing is",
        arguments: [
            "/fo", "/fooo", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/+1", "/foo/1e0", "/foo/ 0",
            "/foo/",
            "/foo/0/x", "/foo/99999999999999999999999", "//", "/a", "/nested/0/1/2", "/e\u{301}", "/é/x/y",
            "/é/X",
        ]
    )
    func findsNothing(_ pointer: String) throws {
        let pointer = try JSONPointer(parsing: pointer)
        #expect(try JSONScan.locate([pointer], in: Self.text.span)[0] == nil)
        #expect(try JSONValue(parsing: Self.text).value(at: pointer) == nil)
    }

    @Test("The empty pointer is the whole document, without the space around it")
    func wholeDocument() throws {
        let text = Array("  [1, 2] \n".utf8)
        #expect(try JSONScan.locate([JSONPointer(parsing: "")], in: text.span)[0] == 2..<8)
        #expect(try JSONScan.locate([JSONPointer(parsing: "")], in: Array(" 7".utf8).span)[0] == 1..<2)
    }

    @Test("Several are followed in one pass, also one inside the other and twice the same")
    func several() throws {
        let text = Array(#"{"a":{"b":[1,{"c":2}]},"d":"x"}"#.utf8)
        let pointers = try ["/a/b/1/c", "/d", "/a", "", "/a/b/1", "/nope", "/d"].map { text throws in
            try JSONPointer(parsing: text)
        }
        let found = try JSONScan.locate(pointers, in: text.span).map { range in
            range.map { String(decoding: text[$0], as: UTF8.self) }
        }
        let document = String(decoding: text, as: UTF8.self)
        #expect(found == ["2", #""x""#, #"{"b":[1,{"c":2}]}"#, document, #"{"c":2}"#, nil, #""x""#])
    }

    @Test("A text that is broken after the value is refused all the same")
    func validatesAll() throws {
        let error = #expect(throws: JSONError.self) {
            try JSONScan.locate([JSONPointer(parsing: "/a")], in: Array(#"{"a":1,"b":}"#.utf8).span)[0]
        }
        #expect(error?.offset == 11)
    }

    @Test(
        "A pointer's text is read back as the same pointer",
        arguments: ["", "/", "//", "/~0~1/~01", "/a b/é"]
    )
    func text(_ text: String) throws {
        #expect(try JSONPointer(parsing: text).text == text)
    }

    @Test(
        "A text that is no pointer is refused",
        arguments: [
            ("a", JSONPointerError.noLeadingSlash), ("#/a", .noLeadingSlash), (" /a", .noLeadingSlash),
            ("/~", .invalidEscape), ("/a~2", .invalidEscape), ("/~/b", .invalidEscape),
            ("~0", .noLeadingSlash),
        ]
    )
    func refuses(_ text: String, _ expected: JSONPointerError) {
        #expect(throws: expected) { try JSONPointer(parsing: text) }
    }

    @Test(
        "Wrapping puts a value under nested names",
        arguments: [
            ("", "[1]"), ("/data", #"{"data":[1]}"#), ("/a/b", #"{"a":{"b":[1]}}"#),
            ("/~1\"", #"{"/\"":[1]}"#),
        ]
    )
    func wraps(_ pointer: String, _ expected: String) throws {
        let pointer = try JSONPointer(parsing: pointer)
        let wrapped = pointer.wrap(Array("[1]".utf8))
        #expect(String(decoding: wrapped, as: UTF8.self) == expected)
        let range = try #require(try JSONScan.locate([pointer], in: wrapped.span)[0])
        #expect(String(decoding: wrapped[range], as: UTF8.self) == "[1]")
    }
}
