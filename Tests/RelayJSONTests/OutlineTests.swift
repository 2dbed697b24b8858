import RelayJSON
import RelayTestSupport
import Testing

@Suite("The members of a text by their places")
struct OutlineTests {
    private static let objects = [[], ["a"], ["a", "b"], [""]]

    @Test(
        "Each member of an object that was asked for is found where the tree has it",
        arguments: UInt64(0)..<300
    )
    func agreesWithTree(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let inner = makeValue(depth: 3, &random)
        let value = makeValue(depth: 4, &random)
        let document =
            Bool.random(using: &random)
            ? value
            : .object([.init("x", value), .init("a", .object([.init("b", inner), .init("c", value)]))])
        let text = Bool.random(using: &random) ? document.encoded() : document.encodedPretty()
        // Reading another text first leaves nothing behind.
        var outline = JSONOutline(Self.objects)
        try? outline.read(Array("{\"a\":[{\"b\":".utf8).span)
        try outline.read(text.span)
        let wanted = Self.objects.enumerated().flatMap { index, path -> [(Int, JSONValue.Member)] in
            guard case .object(let members)? = document.value(at: JSONPointer(tokens: path)) else {
                return []
            }
            return members.map { (index, $0) }
        }
        #expect(outline.members.count == wanted.count)
        for (object, member) in wanted {
            let found = try #require(
                outline.members.first { found in
                    found.object == object
                        && JSONScan.string(found.name, isEscaped: !found.isNamePlain, in: text.span)
                            == Array(member.name.utf8)
                }
            )
            if found.kind == .object, found.value.isEmpty { continue }
            try expect(found, member.value, text)
        }
    }

    private func expect(_ found: JSONOutline.Member, _ value: JSONValue, _ text: [UInt8]) throws {
        let range =
            found.kind == .string
            ? found.value.lowerBound - 1..<found.value.upperBound + 1 : found.value
        #expect(try JSONValue(parsing: Array(text[range])) == value)
        #expect(try JSONScan.compact(text[range].span) == value.encoded())
        if found.kind == .string {
            #expect(found.isPlain == !text[range].contains(UInt8(ascii: "\\")))
        } else {
            // A string may be escaped as it has to be, and is not plain then.
            let isEscaped = text[range].contains(UInt8(ascii: "\\"))
            #expect(found.isPlain == (Array(text[range]) == value.encoded() && !isEscaped))
        }
    }

    @Test(
        "A value is plain where it stands as it would be written",
        arguments: [
            ("{\"a\":[]}", true), ("{\"a\":[ ]}", false), ("{\"a\":[1,2,{\"b\":[]}]}", true),
            ("{\"a\":[1,2,{\"b\":[ ]}]}", false), ("{\"a\":[[],[],{}] }", true), ("{\"a\":[1 ,2]}", false),
            ("{\"a\":[\"\\u0041\"]}", false), ("{\"a\":[{\"\\n\":1}]}", false), ("{\"a\": 5}", true),
            ("{\"a\":\"x y\"}", true), ("{\"a\":\"\\\"\"}", false), ("{\"a\":[{\"b\" :1}]}", false),
            ("{\"a\":[true,null,false,-1.5e3,\"\"]}", true), ("{\"a\":[{\"é\":\"é\"}]}", true),
            ("{\"a\":[{\"b\":1,\"c\":{}},[{}]]}", true),
        ]
    )
    func plain(_ text: String, _ isPlain: Bool) throws {
        var outline = JSONOutline([[]])
        try outline.read(Array(text.utf8).span)
        #expect(outline.members.map(\.isPlain) == [isPlain])
    }

    @Test("A text that is no object has no members, and one that is no JSON is refused as by all readers")
    func others() throws {
        var outline = JSONOutline([[], ["a"]])
        for text in ["[]", "5", "\"x\"", "[{\"a\":{\"b\":1}}]", "{}", " { } "] {
            try outline.read(Array(text.utf8).span)
            #expect(outline.members.isEmpty && outline.isWhole)
        }
        for text in RejectedTexts.all {
            let wanted = #expect(throws: JSONError.self) { try JSONValue(parsing: text.text) }
            let found = #expect(throws: JSONError.self) { try outline.read(text.text.span) }
            #expect(found?.code == wanted?.code && found?.offset == wanted?.offset)
            #expect(throws: JSONError.self) { try JSONScan.compact(text.text.span) }
        }
    }

    @Test("Of an object with very many members as many are noted as there is room for")
    func many() throws {
        let text = "{" + (0..<1_000).map { "\"m\($0)\":[\($0)]" }.joined(separator: ",") + "}"
        var outline = JSONOutline([[]])
        try outline.read(Array(text.utf8).span)
        #expect(outline.members.count == JSONOutline.most && !outline.isWhole)
        try outline.read(Array("{\"a\":1}".utf8).span)
        #expect(outline.members.count == 1 && outline.isWhole)
    }
}
