import RelayBase
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The verdict on an answer")
struct ResponseJudgeTests {
    private func verdict(
        _ status: Status,
        _ body: String = "",
        type: String = "application/json",
        method: Method = .get,
        _ change: (inout RoutePolicy) -> Void
    ) -> ResponseJudge.Verdict {
        let judge = ResponseJudge(route: makeRoute(change), method: method)
        var fields = HeaderFields()
        fields.append("Content-Type", type)
        fields.append("Location", "/elsewhere")
        let content: Body = body.isEmpty ? .empty : .bytes(Array(body.utf8))
        let inbound = InboundResponse(
            response: HTTPResponse(status: status, fields: fields, body: content),
            exchange: Exchange()
        )
        switch judge.judge(inbound, wallSeconds: 1_800_000_000) {
        case .refused(let failure): return .refused(judge.named(failure))
        case .invalid(let failure): return .invalid(judge.named(failure))
        case let success: return success
        }
    }

    /// `success`, `recovered`, or the failure's kind.
    private func name(_ verdict: ResponseJudge.Verdict) -> String {
        switch verdict {
        case .success: "success"
        case .quickRecovered: "recovered"
        case .refused(let failure), .invalid(let failure): failure.kind.rawValue
        }
    }

    private func failure(_ verdict: ResponseJudge.Verdict) -> Failure? {
        switch verdict {
        case .refused(let failure), .invalid(let failure): failure
        case .success, .quickRecovered: nil
        }
    }

    private func text(_ verdict: ResponseJudge.Verdict) -> String? {
        switch verdict {
        case .success(let response), .quickRecovered(let response, _):
            if case .bytes(let bytes) = response.body { String(decoding: bytes, as: UTF8.self) } else { nil }
        case .refused, .invalid: nil
        }
    }

    @Test(
        "By default 2xx is success and the rest is not",
        arguments: [
            (200, "success"), (204, "success"), (299, "success"), (300, "http_status"), (304, "http_status"),
            (399, "http_status"), (499, "http_status"), (599, "http_status"), (199, "http_protocol_error"),
            (100, "http_protocol_error"), (600, "http_protocol_error"),
        ] as [(UInt16, String)]
    )
    func classes(status: UInt16, expected: String) {
        #expect(name(verdict(Status(rawValue: status)) { _ in }) == expected)
    }

    @Test("A route may list a redirect as its success")
    func redirectSuccess() {
        #expect(name(verdict(302) { $0.success.statuses = StatusSet(codes: [302]) }) == "success")
        #expect(name(verdict(200) { $0.success.statuses = StatusSet(codes: [302]) }) == "http_status")
    }

    @Test(
        "An error document is an API error on any status; a partial one, or null, is not",
        arguments: [
            (200, #"{"error":{"code":"token_invalid","title":"T"}}"#, "api_error"),
            (401, #"{"error":{"code":"token_invalid","title":"T"}}"#, "api_error"),
            (500, #"{"error":{"code":"x","title":"T"}}"#, "api_error"),
            (500, #"{"message":"x"}"#, "http_status"), (500, "<html>", "http_status"),
            (200, #"{"error":{"code":"x"}}"#, "success"), (200, #"{"error":null,"data":1}"#, "success"),
            (200, #"{"error":{"code":"x","title":null}}"#, "success"),
            (200, #"{"error":{"code":"x","title":"T"},"data":{}}"#, "api_error"),
            (200, #"{"data":1}"#, "success"),
        ] as [(UInt16, String, String)]
    )
    func apiError(status: UInt16, body: String, expected: String) {
        let verdict = verdict(Status(rawValue: status), body) {
            $0.apiError = APIErrorRule(
                require: [pointer("/error/code"), pointer("/error/title")],
                code: pointer("/error/code"),
                title: pointer("/error/title")
            )
        }
        #expect(name(verdict) == expected)
        guard let failure = failure(verdict), expected == "api_error" else { return }
        #expect(failure.status == Status(rawValue: status))
        #expect(failure.apiCode != nil && failure.apiTitle == "T")
    }

    @Test(
        "An upstream's code is shown only when it looks like one",
        arguments: ["a b", "x\\nSECRET", "é", ""]
    )
    func unsafeCode(code: String) {
        let verdict = verdict(200, #"{"error":{"code":"\#(code)"}}"#) {
            $0.apiError = APIErrorRule(require: [pointer("/error/code")], code: pointer("/error/code"))
        }
        guard let failure = failure(verdict) else {
            Issue.record("not a failure")
            return
        }
        #expect(failure.apiCode == nil)
        #expect(!failure.detail.contains("SECRET"))
    }

    @Test("error_types names a failure by status, code or kind, and may treat it as a status")
    func errorTypes() {
        let change: (inout RoutePolicy) -> Void = {
            $0.apiError = APIErrorRule(require: [pointer("/error/code")], code: pointer("/error/code"))
            $0.errorTypes = [
                ErrorTypeRule(on: nil, apiCodes: ["token_invalid"], kind: "unauthorized", treatAsStatus: 401),
                ErrorTypeRule(
                    on: FailureMatcher([.statusClass(.serverError)]),
                    apiCodes: [],
                    kind: "unavailable",
                    treatAsStatus: nil
                ),
            ]
        }
        let named = verdict(200, #"{"error":{"code":"token_invalid"}}"#, change)
        guard let failure = failure(named) else {
            Issue.record("not a failure")
            return
        }
        #expect(failure.kind == "unauthorized" && failure.treatedAsStatus == 401 && failure.status == 200)
        #expect(name(verdict(503, "", change)) == "unavailable")
        #expect(name(verdict(404, "", change)) == "http_status")
    }

    @Test("quick_recovery makes a success of a failure by the first rule that matches method and failure")
    func quickRecovery() {
        let rules = [
            QuickRecoveryRule(
                on: FailureMatcher([.statusClass(.redirection)]),
                status: 200,
                json: .object([
                    .init("location", .object([.init("$header", .string("Location"))])),
                    .init("status", .object([.init("$status", .bool(true))])),
                    .init("absent", .object([.init("$header", .string("X-None"))])),
                ])
            ),
            QuickRecoveryRule(on: FailureMatcher([.status(404)]), methods: [.delete], status: 204),
        ]
        let redirect = verdict(302) { $0.quickRecovery = rules }
        #expect(name(redirect) == "recovered")
        #expect(text(redirect) == #"{"location":"/elsewhere","status":302,"absent":null}"#)
        #expect(name(verdict(404, method: .delete) { $0.quickRecovery = rules }) == "recovered")
        #expect(name(verdict(404) { $0.quickRecovery = rules }) == "http_status")
    }

    @Test("quick_recovery sees neither a success nor a success that fails validation")
    func quickRecoveryLimits() {
        let any = [QuickRecoveryRule(on: FailureMatcher([.any]), status: 204)]
        #expect(name(verdict(200, "{}") { $0.quickRecovery = any }) == "success")
        let invalid = verdict(200, "{}") {
            $0.quickRecovery = any
            $0.success.require = [BodyCheck(pointer: pointer("/ok"), condition: .exists(true))]
        }
        #expect(name(invalid) == "invalid_response")
    }

    @Test(
        "success.require looks at a JSON pointer",
        arguments: [
            (#"{"status":{"code":0}}"#, "success"), (#"{"status":{"code":0.0}}"#, "success"),
            (#"{"status":{"code":"0"}}"#, "invalid_response"),
            (#"{"status":{"code":1}}"#, "invalid_response"),
            (#"{"status":{}}"#, "invalid_response"), (#"[]"#, "invalid_response"), ("", "empty_response"),
            ("not json", "decoding"), (#"{"status":{"code":0}"#, "decoding"),
        ]
    )
    func require(body: String, expected: String) {
        let verdict = verdict(200, body) {
            $0.success.require = [
                BodyCheck(
                    pointer: pointer("/status/code"),
                    condition: .equals(.number(JSONNumber(text: "0")))
                )
            ]
        }
        #expect(name(verdict) == expected)
    }

    @Test("success.fail names its own kind, and says whether repeating helps")
    func fail() {
        let change: (inout RoutePolicy) -> Void = {
            $0.success.fail = [
                BodyFailureCheck(
                    check: BodyCheck(
                        pointer: pointer("/state"),
                        condition: .isOneOf([.string("busy"), .string("slow")])
                    ),
                    kind: "busy",
                    isRetryable: true
                ),
                BodyFailureCheck(
                    check: BodyCheck(pointer: pointer("/fault"), condition: .exists(true)),
                    kind: "fault",
                    isRetryable: false
                ),
            ]
        }
        #expect(name(verdict(200, #"{"state":"slow"}"#, change)) == "busy")
        #expect(name(verdict(200, #"{"state":"fine"}"#, change)) == "success")
        #expect(name(verdict(200, #"{"fault":null}"#, change)) == "success")
        guard let failure = failure(verdict(200, #"{"fault":{}}"#, change)) else {
            Issue.record("not a failure")
            return
        }
        #expect(failure.kind == "fault" && failure.isRetryable == false)
    }

    @Test(
        "success.content_type compares media types without parameters and case",
        arguments: [
            ("application/json", "success"), ("Application/JSON; charset=utf-8", "success"),
            ("text/html", "invalid_response"), ("application/jsonp", "invalid_response"),
        ]
    )
    func contentType(type: String, expected: String) {
        let verdict = verdict(200, "{}", type: type) { $0.success.contentTypes = ["application/json"] }
        #expect(name(verdict) == expected)
    }

    @Test(
        "unwrap gives the caller what stands at the pointer, byte for byte",
        arguments: [
            (#"{"data": {"a" : 1.50} }"#, #"{"a" : 1.50}"#), (#"{"data":null}"#, "null"),
            (#"{"x":1,"data":[]}"#, "[]"),
            (#"{"other":1}"#, nil), ("[1]", nil),
        ]
    )
    func unwrap(body: String, inner: String?) {
        let verdict = verdict(200, body) { $0.response.unwrap = pointer("/data") }
        #expect(text(verdict) == inner)
        if inner == nil { #expect(name(verdict) == "decoding") }
    }

    @Test(
        "Broken JSON is told from a name that stands twice, by its place, and a byte order mark is read past",
        arguments: [
            (#"{"data":1,}"#, "decoding", "is not JSON at byte 9: no comma"),
            (#"{"data":1,"data":2}"#, "decoding", "two members of one name in one object, at byte 10"),
            ("\u{FEFF}" + #"{"error":{"code":"gone"}}"#, "api_error", "gone"),
            ("", "empty_response", "the answer is empty"), ("\u{FEFF}" + #"{"data":[1]}"#, "success", nil),
        ] as [(String, String, String?)]
    )
    func marks(body: String, expected: String, part: String?) {
        let verdict = verdict(200, body) {
            $0.apiError = APIErrorRule(require: [pointer("/error/code")], code: pointer("/error/code"))
            $0.response.unwrap = pointer("/data")
            $0.response.empty = .error
        }
        #expect(name(verdict) == expected && (part == nil ? text(verdict) == "[1]" : true))
        if let part { #expect(failure(verdict)?.detail.contains(part) == true) }
    }

    @Test("An empty answer is an error only where the route says so")
    func empty() {
        #expect(name(verdict(200) { $0.response.empty = .error }) == "empty_response")
        #expect(name(verdict(200) { $0.response.expectsJSON = true }) == "success")
        #expect(name(verdict(204) { $0.response.empty = .error }) == "empty_response")
        let named = verdict(204) {
            $0.response.empty = .error
            $0.success.statuses = StatusSet(codes: [204], classes: [.success])
        }
        #expect(name(named) == "success")
        #expect(name(verdict(200, method: .head) { $0.response.empty = .error }) == "success")
    }

    @Test("A 204 breaks what is required of content, unless the route names its status")
    func contentless() {
        let require = [BodyCheck(pointer: pointer("/ok"), condition: .exists(true))]
        #expect(name(verdict(200) { $0.success.require = require }) == "empty_response")
        #expect(name(verdict(204) { $0.success.require = require }) == "empty_response")
        #expect(name(verdict(204, method: .head) { $0.success.require = require }) == "success")
        let named = verdict(204) {
            $0.success.require = require
            $0.success.statuses = StatusSet(codes: [204], classes: [.success])
        }
        #expect(name(named) == "success")
    }

    @Test("A failure's text never holds a byte of the body or of a field")
    func secrecy() {
        let bodies = [#"{"error":{"code":"CANARY CANARY"}}"#, #"{"status":"CANARY"}"#, "CANARY"]
        for body in bodies {
            let verdict = verdict(200, body, type: "text/CANARY") {
                $0.apiError = APIErrorRule(require: [pointer("/error/code")], code: pointer("/error/code"))
                $0.success.contentTypes = ["application/json"]
                $0.success.require = [BodyCheck(pointer: pointer("/status"), condition: .equals(.null))]
            }
            guard let failure = failure(verdict) else {
                Issue.record("not a failure: \(body)")
                continue
            }
            #expect(!failure.detail.contains("CANARY"))
        }
    }
}
