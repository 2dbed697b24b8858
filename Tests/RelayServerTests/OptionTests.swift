import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import Testing

@testable import RelayServer

@Suite("The options of a job")
struct OptionTests {
    /// An option with a value in the words of a field and of JSON, and whether it is one.
    struct Case: CustomTestStringConvertible {
        let option: String
        let text: String
        let json: String
        let isGood: Bool

        init(_ option: String, _ isGood: Bool, _ text: String, _ json: String? = nil) {
            self.option = option
            self.text = text
            self.json = json ?? "\"\(text)\""
            self.isGood = isGood
        }

        var testDescription: String { "\(option) \(text.prefix(40))" }
    }

    static let long = String(repeating: "k", count: 256)
    static let cases = [
        Case("timeout", true, "1ms"), Case("timeout", false, "0s"), Case("timeout", true, "365d"),
        Case("timeout", false, "366d"), Case("attempt_timeout", true, "1ms"),
        Case("attempt_timeout", false, "1"), Case("max_attempts", true, "100", "100"),
        Case("max_attempts", false, "101", "101"), Case("max_attempts", false, "0", "0"),
        Case("max_attempts", false, "+1"), Case("fallback", true, "off", "false"),
        Case("fallback", false, "maybe", "\"off\""), Case("constrained", true, "refuse"),
        Case("constrained", true, "send"), Case("constrained", false, "light"),
        Case("constrained", false, "Wait"), Case("delay", true, "0s"),
        Case("delay", false, "365d1ms"), Case("not_before", true, "2027-01-31T08:00:00.000Z"),
        Case("not_before", false, "1969-12-31T23:59:59Z"), Case("expires_after", true, "1s"),
        Case("expires_after", false, "999ms"), Case("expires_after", false, "400d"),
        Case("priority", true, "7", "7"), Case("priority", false, "8", "8"),
        Case("ordering_key", true, long), Case("ordering_key", false, long + "k"),
        Case("ordering_key", true, "schlüssel"), Case("supersede_key", false, ""),
        Case("labels", true, "a=" + long.dropLast(2), "{\"a\": \"\(long.dropLast(2))\"}"),
        Case("labels", false, "a=" + long, "{\"a\": \"\(long)\"}"),
        Case("labels", false, "=b", "{\"\": \"b\"}"),
    ]

    @Test(
        "A field, a member and a program have the same bounds, and an error in the words of each",
        arguments: cases
    )
    func bounds(_ made: Case) throws {
        let option = try #require(JobOption.named(made.option))
        var fields = HeaderFields()
        _ = option.write(made.text, to: &fields)
        let ofField = Result { try RequestTerms(fields) }
        let document = #"{"route":"a","options":{"\#(made.option)":\#(made.json)}}"#
        let ofMember = Result { try Submission(Array(document.utf8)) }
        var options = SubmissionOptions()
        let isTaken = option.value.read(made.text, into: &options)
        #expect(isTaken == made.isGood)
        switch (ofField, ofMember) {
        case (.success, .success(let submission)):
            #expect(made.isGood)
            var written = HeaderFields()
            try options.add(to: &written) { $0.property }
            #expect(written.pairs.map(\.value) == submission.fields.pairs.map(\.value))
        case (.failure(let field as Problem), .failure(let member as Problem)):
            #expect(!made.isGood)
            #expect(field.detail.contains(option.lowercasedField))
            #expect(
                member.errors.allSatisfy {
                    $0.message.hasPrefix(made.option + " must be")
                        || $0.message.hasPrefix(made.option + " must have")
                }
            )
            #expect(member.errors.allSatisfy { $0.pointer.hasPrefix("/options/\(made.option)") })
        default: Issue.record("a field says one thing, a member another: \(ofField), \(ofMember)")
        }
    }

    @Test("Every option has a value for the table above", arguments: JobOption.all.map(\.member))
    func coverage(member: String) { #expect(Self.cases.contains { $0.option == member }) }

    @Test("A problem of a job names the options as its caller wrote them, and no other field")
    func names() throws {
        let given = try ["not_before", "timeout"].map { try #require(JobOption.named($0)) }
        func renamed(_ text: String) -> String { JobOption.renamed(text, given) { "--\($0.flag)" } }
        #expect(
            renamed("waystation-not-before must end within 1h (waystation-timeout)")
                == "--not-before must end within 1h (--timeout)"
        )
        let others = "there is no field waystation-timeouts; waystation-delay is another"
        #expect(renamed(others) == others)
        #expect(JobOption.named("ordering_key")?.property == "orderingKey")
        #expect(JobOption.named("labels")?.lowercasedField == "waystation-label")
    }

    @Test("Too many labels are one error, which leaves room for the others")
    func labels() {
        let labels = (0..<60).map { #""k\#($0)":"v""# }.joined(separator: ",")
        let document = #"{"route":"a","options":{"labels":{\#(labels)},"delay":"soon"}}"#
        let problem = #expect(throws: Problem.self) { try Submission(Array(document.utf8)) }
        #expect(problem?.errors.map(\.pointer) == ["/options/labels", "/options/delay"])
    }
}
