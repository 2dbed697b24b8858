import RelayJSON
import Testing

@Suite("The JSON grammar")
struct GrammarTests {
    @Test("Every valid text is read", arguments: AcceptedTexts.all)
    func accepts(_ text: String) throws {
        let bytes = Array(text.utf8)
        try JSONScan.validate(bytes.span)
        let value = try JSONValue(parsing: bytes)
        #expect(try JSONDocument(parsing: bytes).root.value == value)
        #expect(try JSONValue(parsing: value.encoded()) == value)
        #expect(try JSONValue(parsing: value.encodedPretty()) == value)
    }

    @Test("Every invalid text is refused, by every reader alike", arguments: RejectedTexts.all)
    func rejects(_ row: RejectedTexts.Row) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: row.text) }
        #expect(error?.code == row.code)
        #expect((0...row.text.count).contains(error?.offset ?? -1))
        #expect(throws: JSONError.self) { try JSONScan.validate(row.text.span) }
        #expect(throws: JSONError.self) {
            try JSONScan.locate([JSONPointer(tokens: ["a"])], in: row.text.span)[0]
        }
    }

    @Test("The tables are complete and name no text twice")
    func counts() {
        #expect(AcceptedTexts.all.count == 95)
        #expect(Set(AcceptedTexts.all.map { Array($0.utf8) }).count == 95)
        #expect(RejectedTexts.all.count == 188)
        #expect(Set(RejectedTexts.all.map(\.text)).count == 188)
    }

    @Test(
        "A text that the grammar leaves open is read or refused, never more",
        arguments: [
            "1e400", "-1e400", "1e-400", "123456789012345678901234567890e99999999999999999999",
            "0e99999999999999999999",
            "[1e9223372036854775807]", "[0.1e-9223372036854775808]",
            "\"\u{0}\"", "\"\\u0000\\u0000\"", "[\"\u{E000}\"]", "\u{FEFF}[]",
        ]
    )
    func implementationDefined(_ text: String) {
        guard let value = try? JSONValue(parsing: Array(text.utf8)) else { return }
        #expect(value.isEquivalent(to: value))
        if case .number(let number) = value { #expect(number.double?.isFinite ?? true) }
    }
}
