import RelayBase
import RelayCore
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

/// A POST without a key meets every failure that the transport and the judge know, under every rule.
@Suite("The failures after which a POST without a key is repeated", .timeLimit(.minutes(5)))
struct RepeatTableTests {
    /// One way to fail, and what it says about the request.
    struct Way: Sendable {
        let name: String
        let step: ScriptedTransport.Step
        let sent: Sent
        var change: @Sendable (inout RoutePolicy) -> Void = { _ in }

        var mayHaveActed: Bool { sent == .unknown || sent == .answered }
    }

    enum Rule: String, CaseIterable, Sendable {
        case none, retry, failover, refresh, retryAny, failoverAny

        var rules: [RecoveryRule] {
            switch self {
            case .none: []
            case .retry: [rule("again", ["any"], RelayTestSupport.retry(10))]
            case .failover: [rule("failover", ["any"], .failover(upstream: 1))]
            case .refresh: [rule("reauthorize", ["any"], .refreshCredentials(maxTimes: 1))]
            case .retryAny: [rule("again", ["any"], RelayTestSupport.retry(3, methods: .any))]
            case .failoverAny: [rule("failover", ["any"], .failover(upstream: 1, methods: .any))]
            }
        }

        /// Times the request is sent whose first attempt failed like that.
        func sends(_ way: Way, isSafe: Bool) -> Int {
            switch self {
            case .none: 1
            case .retry, .failover, .refresh: isSafe || !way.mayHaveActed ? 2 : 1
            case .retryAny, .failoverAny: 2
            }
        }
    }

    private static let good = ScriptedTransport.Step.answer(
        200,
        [("Content-Type", "application/json")],
        #"{"ok":true,"data":{}}"#
    )

    private static func answer(
        _ status: Status,
        _ sent: Sent,
        _ fields: [(String, String)] = [],
        _ body: String = ""
    ) -> Way {
        Way(name: "\(status.rawValue) \(fields)", step: .answer(status, fields, body), sent: sent)
    }

    private static func success(
        _ name: String,
        _ sent: Sent = .answered,
        _ body: String = "{}",
        status: Status = 200,
        fields: [(String, String)] = [("Content-Type", "application/json")],
        _ change: @escaping @Sendable (inout RoutePolicy) -> Void
    ) -> Way {
        Way(name: name, step: .answer(status, fields, body), sent: sent, change: change)
    }

    static let wire: [Way] = {
        let never: [FailureKind] = [
            .dnsTimeout, .dnsError, .destinationUnavailable, .destinationIPProhibited, .connectionRefused,
            .connectionTimeout, .connectionLimitReached, .tlsProtocolError, .tlsCertificateError,
            .tlsAlertReceived,
        ]
        let unknown: [FailureKind] = [
            .connectionTerminated, .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout,
            .httpResponseIncomplete, .httpProtocolError,
        ]
        let answered: [FailureKind] = [
            .httpProtocolError, .httpResponseHeaderSectionSize, .httpResponseContentCoding,
            .httpResponseBodySize,
        ]
        func ways(_ kinds: [FailureKind], _ sent: Sent) -> [Way] {
            kinds.map { Way(name: "\($0) \(sent.rawValue)", step: .fail($0, sent), sent: sent) }
        }
        return ways(never, .neverSent) + ways(unknown, .unknown) + ways(answered, .answered)
    }()

    static let statuses: [Way] = {
        let refused: [Status] = [400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 422, 425, 429, 451, 499]
        let answered: [Status] = [
            300, 301, 302, 303, 304, 307, 308, 500, 501, 502, 503, 504, 507, 599, 600, 199,
        ]
        let plain = refused.map { answer($0, .refused) } + answered.map { answer($0, .answered) }
        return plain + [
            answer(503, .refused, [("Retry-After", "0")]), answer(503, .answered, [("Retry-After", "soon")]),
            answer(500, .answered, [("Retry-After", "1")]), answer(502, .answered, [("Retry-After", "1")]),
            answer(504, .answered, [("Retry-After", "1")]), answer(302, .answered, [("Location", "/x")]),
        ]
    }()

    static let judged: [Way] = {
        let document = APIErrorRule(require: [pointer("/error")])
        let error = #"{"error":"busy"}"#
        @Sendable func named(_ status: Status) -> ErrorTypeRule {
            ErrorTypeRule(on: FailureMatcher([.any]), apiCodes: [], kind: "busy", treatAsStatus: status)
        }
        return [
            success("an error document in a success", .answered, error) { $0.apiError = document },
            success("an error document on 409", .refused, error, status: 409) { $0.apiError = document },
            success("an error document on 500", .answered, error, status: 500) { $0.apiError = document },
            success("an error document treated as 429", .refused, error) {
                ($0.apiError, $0.errorTypes) = (document, [named(429)])
            },
            success("an error document treated as a bare 503", .answered, error) {
                ($0.apiError, $0.errorTypes) = (document, [named(503)])
            },
            success("a 404 treated as 500", .answered, status: 404) { $0.errorTypes = [named(500)] },
            Way(
                name: "a time-out treated as 429",
                step: .fail(.httpResponseTimeout, .unknown),
                sent: .unknown,
                change: { $0.errorTypes = [named(429)] }
            ),
            success("success.require") {
                $0.success.require = [BodyCheck(pointer: pointer("/ok"), condition: .exists(true))]
            },
            success("success.fail", .answered, error) {
                let check = BodyCheck(pointer: pointer("/error"), condition: .exists(true))
                $0.success.fail = [BodyFailureCheck(check: check, kind: "soft", isRetryable: true)]
            },
            success("a content type", .answered, "<p>", fields: []) {
                $0.success.contentTypes = ["application/json"]
            },
            success("nothing to unwrap") { $0.response.unwrap = pointer("/data") },
            success("no JSON", .answered, "<p>") { $0.response.expectsJSON = true },
            success("an empty answer", .answered, "") { $0.response.empty = .error },
            success("a body too large to look into", .answered, String(repeating: " ", count: 300)) {
                ($0.response.expectsJSON, $0.success.inspectLimit) = (true, 100)
            },
            success("a 404 that counts as a success and is not valid", .answered, "<p>", status: 404) {
                $0.success.statuses = StatusSet(codes: [404], classes: [.success])
                $0.response.expectsJSON = true
            },
        ]
    }()

    static let ways = wire + statuses + judged

    private static func route(_ way: Way, _ rule: Rule) -> Route {
        makeRoute {
            $0.authentication = Authentication(form: .bearer, credential: "login")
            way.change(&$0)
            $0.recovery = rule.rules
        }
    }

    private static func bench(_ way: Way) -> Bench {
        Bench([way.step, good], credentials: [CredentialDefinition("login") { AccessToken("t") }])
    }

    @Test(
        "A request that waits is sent once more only when it was not carried out, or the rule says any",
        arguments: Rule.allCases
    )
    func waiting(rule: Rule) async {
        for way in Self.ways {
            for (method, isKeyed) in [("POST", false), ("PATCH", false), ("POST", true), ("PUT", false)] {
                var fields = HeaderFields()
                if isKeyed { fields.append("Idempotency-Key", "k") }
                var options = JobOptions()
                // As in a stream of jobs.
                options.collectsAnswer = isKeyed
                let bench = Self.bench(way)
                let outcome = await bench.perform(
                    Method(rawValue: method),
                    on: Self.route(way, rule),
                    fields: fields,
                    options: options
                )
                let isSafe = isKeyed || method == "PUT"
                let words = Comment(rawValue: "\(method) \(way.name)")
                #expect(bench.transport.sent.count == rule.sends(way, isSafe: isSafe), words)
                #expect(outcome.attempts.first?.failure?.sent == way.sent, words)
                let held = outcome.attempts[0].heldBack.map(\.reason)
                let reason: HeldBack.Reason = way.sent == .answered ? .mayHaveActed : .outcomeUnknown
                let isHeld = rule != .none && rule.sends(way, isSafe: isSafe) == 1
                #expect(held == (isHeld ? [reason] : []), words)
            }
        }
    }

    @Test(
        "A kept job is sent once more only then too, and ends with what may have become of it",
        arguments: Rule.allCases
    )
    func kept(rule: Rule) async {
        for way in Self.ways {
            let bench = Self.bench(way)
            let runs = await bench.deliverToTheEnd(.post, on: Self.route(way, rule))
            let sends = rule.sends(way, isSafe: false)
            #expect(bench.transport.sent.count == sends, Comment(rawValue: way.name))
            let end = way.sent == .unknown ? "outcome_unknown" : "not_repeatable"
            let words = sends == 2 ? "succeeded 200 upstream" : "dead \(way.mayHaveActed ? end : "exhausted")"
            #expect(runs.last?.words == words, Comment(rawValue: way.name))
        }
    }

    @Test("A kept job of a route without rules is tried later only when it was not carried out")
    func deliverLater() async {
        for way in Self.ways where way.mayHaveActed {
            let bench = Self.bench(way)
            let route = makeRoute {
                $0.authentication = Authentication(form: .bearer, credential: "login")
                way.change(&$0)
                $0.deliversLater = true
            }
            let runs = await bench.deliverToTheEnd(.post, on: route)
            #expect(bench.transport.sent.count == 1 && runs.count == 1, Comment(rawValue: way.name))
        }
    }

    @Test("A job that may have been carried out is over, whether a rule pauses its route or gives it up")
    func putAside() async {
        for way in Self.ways {
            let end = way.sent == .unknown ? "outcome_unknown" : "not_repeatable"
            for (action, open, over) in [
                (RecoveryRule.Action.pauseRoute(reason: "gone"), "paused: gone", "dead \(end), paused: gone"),
                (.deadLetter, "dead rejected", "dead \(end)"),
                // An operator that releases it says that it may be sent.
                (.hold, "held", "held"),
            ] {
                let run = await Self.bench(way).deliver(
                    .post,
                    on: makeRoute {
                        $0.authentication = Authentication(form: .bearer, credential: "login")
                        way.change(&$0)
                        $0.recovery = [rule("aside", ["any"], action)]
                    }
                )
                #expect(run.words == (way.mayHaveActed ? over : open), Comment(rawValue: way.name))
            }
        }
    }
}
