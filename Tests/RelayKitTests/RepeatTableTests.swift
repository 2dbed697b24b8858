import RelayJSON
import RelayKit
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
            let any: FailureMatcher = [.any]
            return switch self {
            case .none: []
            case .retry: [.again()]
            case .failover: [.failover(to: 1, on: any)]
            case .refresh: [.reauthorize(on: any)]
            case .retryAny:
                [.backoff(on: any, Backoff(schedule: .constant(.seconds(1)), jitter: .none), methods: .any)]
            case .failoverAny: [.failover(to: 1, on: any, methods: .any)]
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
            ErrorTypeRule(on: [.any], apiCodes: [], kind: "busy", treatAsStatus: status)
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

    @Test(
        "A strategy repeats what was not carried out, or what its rule says",
        arguments: [RepeatableMethods.idempotentOrKeyed, .any]
    )
    func strategy(methods: RepeatableMethods) async throws {
        for way in Self.ways {
            let bench = try ServiceBench([way.step, Self.good]) {
                way.change(&$0)
                let again = AdvisingStrategy("again") { _, request, _ in .retry(request, after: .zero) }
                $0.recovery = [.strategy(again, methods: methods)]
            }
            let outcome = await bench.service.outcome(of: Request<HTTPResponse>.plain(.post))
            let sends = methods == .any || !way.mayHaveActed ? 2 : 1
            #expect(bench.transport.sent.count == sends, Comment(rawValue: way.name))
            #expect(outcome.attempts.first?.failure?.sent == way.sent, Comment(rawValue: way.name))
        }
    }

    @Test("The answer's status says what was carried out, whatever a program's code makes of the answer")
    func program() async throws {
        struct Broken: Error {}
        var documented = Request<HTTPResponse>.plain(.post)
        documented.errorDocument = ErrorDocument { _ in
            Failure("mine", sent: .neverSent, "as if nothing had been sent", status: 404)
        }
        var validated = Request<HTTPResponse>.plain(.post)
        validated.successValidator = { if $0.response.words == "bad" { throw Broken() } }
        var renamed = Request<HTTPResponse>.plain(.post)
        renamed.classify = { Failure("mine", sent: .neverSent, $0.detail, status: 404) }
        let table: [(Request<HTTPResponse>, ScriptedTransport.Step, Sent)] = [
            (documented, .answer(200), .answered), (documented, .answer(500), .answered),
            (documented, .answer(409), .refused),
            (documented, .answer(503, [("Retry-After", "1")]), .refused),
            (validated, .answer(200, [], "bad"), .answered), (renamed, .answer(500), .answered),
            (renamed, .answer(422), .refused), (renamed, .fail(.connectionTerminated, .unknown), .unknown),
        ]
        for (request, step, sent) in table {
            let bench = try ServiceBench([step, .answer(200)]) { $0.recovery = [.again(2)] }
            let outcome = await bench.service.outcome(of: request)
            #expect(outcome.attempts.first?.failure?.sent == sent)
            #expect(bench.transport.sent.count == (sent == .refused ? 2 : 1))
        }
    }

    @Test("The refusal of a later attempt does not free a request of the key that made the first one safe")
    func laterRefusal() async throws {
        let advice = AdvisingStrategy("other-key") { failure, request, _ in
            var request = request
            if failure.sent == .refused { request.fields.set("Idempotency-Key", "other") }
            return .retry(request, after: .zero)
        }
        let bench = try ServiceBench([.fail(.connectionTerminated, .unknown), .answer(429), .answer(200)]) {
            $0.recovery = [.strategy(advice)]
        }
        let request = Request<HTTPResponse>(.post, "x", headers: ["Idempotency-Key": "a"])
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == 2 && outcome.endedWith?.sent == .unknown)
    }
}
