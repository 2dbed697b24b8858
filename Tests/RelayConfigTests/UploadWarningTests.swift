import RelayConfig
import Testing

@Suite("A check's words on time limits that bounded uploads")
struct UploadWarningTests {
    private func said(_ timeouts: String, limits: String, defaults: String = "{}") -> [String] {
        let upstreams = #""upstreams": [{"name": "u", "url": "https://u.example/"}]"#
        let result = read(
            """
            {"limits": \(limits), "defaults": \(defaults), "routes": {"r": {\(upstreams), "timeouts": \(timeouts)},
             "other": {\(upstreams)}}}
            """
        )
        return result.diagnostics.map { "\($0.severity.rawValue): \($0.message)  [\($0.pointer)]" }
    }

    private let large = #"{"max_request_body": "100MiB"}"#
    private let warning =
        "warning: a body that moves is bounded by no timeouts.attempt or timeouts.total, such as those of route "
        + #""r", but by timeouts.idle and timeouts.min_rate  [/limits/max_request_body]"#

    @Test("It warns where large bodies are let through and only the old limits are named")
    func warns() {
        #expect(said(#"{"attempt": "5s"}"#, limits: large) == [warning])
        #expect(said(#"{"total": "60s"}"#, limits: large) == [warning])
        let both = said("{}", limits: large, defaults: #"{"timeouts": {"attempt": "5s"}}"#)
        #expect(both == [warning.replacing(#""r","#, with: #""r" and of 1 more,"#)])
    }

    @Test("It says nothing where no body is large, nothing is named, or the new ones are")
    func quiet() {
        #expect(said(#"{"attempt": "5s"}"#, limits: "{}") == [])
        #expect(said(#"{"attempt": "5s"}"#, limits: #"{"max_request_body": "64KiB"}"#) == [])
        #expect(said("{}", limits: large) == [])
        #expect(said(#"{"attempt": "5s", "idle": "10s"}"#, limits: large) == [])
        #expect(said(#"{"attempt": "5s", "min_rate": "1KiB"}"#, limits: large) == [])
        let said = said(#"{"attempt": "5s"}"#, limits: large, defaults: #"{"timeouts": {"min_rate": "0B"}}"#)
        #expect(said == [])
    }
}
