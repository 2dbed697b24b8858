import RelayJSON
import Synchronization
import Testing

@testable import waystation

@Suite("Texts that upstreams wrote")
struct UpstreamTextsTests {
    private static func taken(_ document: String) throws -> (told: String, lines: [UInt8]) {
        let lines = Mutex<[UInt8]>([])
        let texts = UpstreamTexts { line in
            lines.withLock { $0 += line }
            return true
        }
        let told = texts.withoutTexts(try JSONValue(parsing: Array(document.utf8)))
        return (String(decoding: told.encoded(), as: UTF8.self), lines.withLock { $0 })
    }

    @Test("stand by a mark where they stood, and by themselves for who asks")
    func marks() throws {
        let detail = "the upstream answered 503 with an error document (code DROP_ALL)"
        let (told, lines) = try Self.taken(
            #"{"last":{"api_code":"DROP_ALL","api_title":"call drop","detail":"\#(detail)"},"#
                + #""attempts":[{"operation":"/call/drop","api_title":"call drop","number":1}]}"#
        )
        #expect(!told.contains("DROP_ALL") && !told.contains("call"))
        #expect(told.contains(#""api_code":"untrusted 1","api_title":"untrusted 2""#))
        #expect(told.contains(#"an error document (code untrusted 1)""#))
        #expect(told.contains(#""operation":"untrusted 3","api_title":"untrusted 2","number":1"#))
        let member = try #require(UntrustedMember(lines: lines).object)
        #expect(
            String(decoding: member, as: UTF8.self)
                == #"{"untrusted":{"1":"DROP_ALL","2":"call drop","3":"/call/drop"}}"#
        )
    }

    @Test("are bounded, and without control characters")
    func bounds() throws {
        let long = String(repeating: "\u{1B}\"", count: 2_000)
        let many = (1...150).map { #"{"api_title":"\#($0) \u001b[2J\u202e"}"# }.joined(separator: ",")
        let several = try #require(UntrustedMember(lines: try Self.taken("[\(many)]").lines).object)
        #expect(several.count <= UntrustedMember.longest)
        #expect(several.allSatisfy { $0 >= 0x20 })
        let inner = try JSONValue(parsing: several)["untrusted"]
        #expect(inner?["1"]?.text == #"1 \u{1b}[2J\u{202e}"#)
        #expect((inner?["left_out"]?.integer ?? 0) > 30)
        let member = try #require(UntrustedMember(lines: JSONValue.string(long).line).object)
        #expect(member.count <= UntrustedMember.longest)
        #expect(UntrustedMember(lines: []).object == nil)
    }

    @Test("leave room in an answer for no more than 64 KiB")
    func room() {
        for piece in ["\n", "\"x", "\u{1}", "é", "a line\n"] {
            let text = String(repeating: piece, count: 100_000)
            for (kept, isWhole) in [AnswerLimit.beginning(text), AnswerLimit.lastLines(text + "\nlast")] {
                #expect(!isWhole)
                #expect(JSONValue.string(kept).encoded().count <= AnswerLimit.text + 2)
            }
            #expect(AnswerLimit.lastLines(text + "\nlast").0.hasSuffix("last"))
        }
        #expect(AnswerLimit.beginning("short\n") == ("short\n", true))
        #expect(AnswerLimit.lastLines("a\nb\n") == ("a\nb\n", true))
    }
}
