import RelayJSON
import Testing

@Suite("The JSON reader")
struct ReaderTests {
    @Test("Nesting is allowed up to the limit and not one level more", arguments: [1, 2, 64, 512])
    func depth(limit: Int) throws {
        let limits = JSONLimits(maxDepth: limit)
        let nested = { (depth: Int) in
            Array(String(repeating: "[", count: depth).utf8) + Array(repeating: 0x5D, count: depth)
        }
        _ = try JSONValue(parsing: nested(limit), limits: limits)
        let error = #expect(throws: JSONError.self) {
            try JSONValue(parsing: nested(limit + 1), limits: limits)
        }
        #expect(error?.code == .tooDeep)
        #expect(error?.offset == limit)
    }

    @Test("A limit out of range is brought into it")
    func limitRange() {
        #expect(JSONLimits(maxDepth: 0).maxDepth == 1)
        #expect(JSONLimits(maxDepth: .max).maxDepth == 512)
        #expect(JSONLimits().maxDepth == 64)
    }

    @Test("A repeated name is found among few and among many", arguments: [1, 2, 15, 16, 17, 18, 40, 1000])
    func duplicates(count: Int) throws {
        let members = (0..<count).map { "\"name\($0)\":{\"name\($0)\":0}" }
        let unique = "{\(members.joined(separator: ","))}"
        _ = try JSONValue(parsing: Array(unique.utf8))
        for repeated in [0, count / 2, count - 1] {
            let text = "\(unique.dropLast()),\"n\\u0061me\(repeated)\":1}"
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
            #expect(error?.code == .duplicateName)
            #expect(error?.offset == unique.utf8.count)
        }
    }

    @Test("A hundred thousand names take time in proportion, not in squares", .timeLimit(.minutes(5)))
    func manyNames() throws {
        let members = (0..<100_000).map { "\"\($0)\":0" }
        try JSONScan.validate(Array("{\(members.joined(separator: ","))}".utf8).span)
    }

    @Test("Names that only look the same are different names")
    func canonicalEquivalence() throws {
        let value = try JSONValue(parsing: Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8))
        #expect(value["\u{E9}"] == .number(JSONNumber(1)))
        #expect(value["e\u{301}"] == .number(JSONNumber(2)))
    }

    @Test("A document notes every repeated name and keeps the first member")
    func documentDuplicates() throws {
        let text = Array(#"{"a":1,"a":{"b":1,"b":2},"c":3,"a":4}"#.utf8)
        let document = try JSONDocument(parsing: text)
        #expect(document.duplicates.map(\.nameRange.lowerBound) == [7, 18, 31])
        #expect(document.root.value.encoded() == Array(#"{"a":1,"c":3}"#.utf8))
    }

    @Test("Nodes and names know where they stand")
    func ranges() throws {
        let text = Array("{\n  \"é\": [ true, \"x\" ]\n}".utf8)
        let document = try JSONDocument(parsing: text)
        let member = try #require(document.root["é"])
        let slice = { (range: Range<Int>) in String(decoding: text[range], as: UTF8.self) }
        #expect(slice(member.nameRange) == "\"é\"")
        #expect(slice(member.value.range) == "[ true, \"x\" ]")
        guard case .array(let elements) = member.value.content else {
            Issue.record("no array")
            return
        }
        #expect(elements.map { slice($0.range) } == ["true", "\"x\""])
        #expect(
            document.source.position(of: elements[1].range.lowerBound) == JSONPosition(line: 2, column: 16)
        )
        #expect(
            document.source.position(of: member.value.range.lowerBound) == JSONPosition(line: 2, column: 8)
        )
    }

    @Test("Lines end at line feeds; a carriage return before one is no part of the line")
    func lines() {
        let source = SourceText(Array("ab\r\ncd\n\n\tx".utf8))
        #expect(source.position(of: 0) == JSONPosition(line: 1, column: 1))
        #expect(source.lineRange(of: 1) == 0..<2)
        #expect(source.lineRange(of: 4) == 4..<6)
        #expect(source.position(of: 7) == JSONPosition(line: 3, column: 1))
        #expect(source.lineRange(of: 7) == 7..<7)
        #expect(source.position(of: 9) == JSONPosition(line: 4, column: 2))
        #expect(source.position(of: 99) == JSONPosition(line: 4, column: 3))
        #expect(SourceText([]).position(of: 0) == JSONPosition(line: 1, column: 1))
        #expect(SourceText([]).lineRange(of: 0) == 0..<0)
    }

    @Test("An error says what is wrong and repeats no text")
    func messages() {
        let error = #expect(throws: JSONError.self) {
            try JSONValue(parsing: Array(#"{"password": hunter2}"#.utf8))
        }
        #expect(error?.message == "expected a value")
        let brace = #expect(throws: JSONError.self) { try JSONValue(parsing: Array(#"{"a": }"#.utf8)) }
        #expect(brace?.message == "expected a value, found \"}\"")
    }
}
