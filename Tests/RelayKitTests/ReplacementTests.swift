import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("The values that stand in for a failure", .timeLimit(.minutes(5)))
struct ReplacementTests {
    private static let request = Request<Book>(.get, "books/7", decoder: ShapeCoder())

    /// A way to fail at each stage.
    static let stages: [(ScriptedTransport.Step, String)] = [
        (.fail(.connectionRefused, .neverSent), "connection_refused"),
        (.fail(.httpResponseTimeout, .unknown), "http_response_timeout"),
        (.answer(404), "http_status"), (.answer(503), "http_status"), (.answer(600), "http_protocol_error"),
        (.answer(200, [], "<garbage>"), "decoding"),
        (.answer(200, [], #"{"title":"old"}"#), "invalid_response"),
    ]

    private static func strict(_ request: Request<Book>) -> Request<Book> {
        var request = request
        request.successValidator = { success in
            if success.response.words.contains("old") { throw Misshapen(wanted: "new") }
        }
        return request
    }

    /// Takes values and nothing else.
    private actor Screen {
        private(set) var shown: [String] = []

        func show(_ request: Request<Book>, from service: RelayService) async {
            shown.append(
                await service.value(of: request) { failure in Book(title: failure.kind.rawValue) }.title
            )
        }
    }

    @Test(
        "A caller that accepts no failure gets a value for each, in its own context",
        .clauses("UC-01", "UC-02", "UC-05")
    )
    func screen() async throws {
        let bench = try ServiceBench(Self.stages.map(\.0) + [.answer(200, [], #"{"title":"T"}"#)])
        let screen = Screen()
        for _ in 0...Self.stages.count { await screen.show(Self.strict(Self.request), from: bench.service) }
        #expect(await screen.shown == Self.stages.map(\.1) + ["T"])
    }

    @Test(
        "A request's own placeholder covers every stage and sees what failed",
        .clauses("UC-04", "UC-05", "T-125"),
        arguments: stages.indices
    )
    func everyStage(stage: Int) async throws {
        let (step, kind) = Self.stages[stage]
        var request = Self.strict(Self.request)
        request.placeholder = { failure in
            Book(
                title:
                    "\(failure.kind.rawValue) \(failure.status?.rawValue ?? 0) \(failure.request?.target ?? "")"
            )
        }
        let bench = try ServiceBench([step])
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.source == .placeholder && outcome.attempts.count == 1)
        #expect(
            outcome.gave?.title.hasPrefix(kind) == true && outcome.gave?.title.hasSuffix(" books/7") == true
        )
        if case .answer(let status, _, _) = step, kind != "http_protocol_error" {
            #expect(outcome.gave?.title == "\(kind) \(status.rawValue) books/7")
        }
    }

    @Test(
        "A placeholder may be chosen by the failure, and one that is not chosen lets it through",
        .clauses("UC-04", "T-125")
    )
    func chosen() async throws {
        var request = Self.request
        request.placeholder = { $0.status == 404 ? Book(title: "no such book") : nil }
        let bench = try ServiceBench([.answer(404), .answer(503)])
        #expect(try await bench.service.execute(request).title == "no such book")
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.endedWith?.status == 503 && outcome.source == nil)
    }

    @Test(
        "A success asks for no placeholder, and a failure once, after all recovery",
        .clauses("UC-04", "UC-06", "UC-08")
    )
    func once() async throws {
        let chronicle = Chronicle()
        var request = Self.request
        request.placeholder = { failure in
            chronicle.note("\(failure.status?.rawValue ?? 0)")
            return Book(title: "none")
        }
        let bench = try ServiceBench([
            .answer(200, [], #"{"title":"T"}"#), .answer(503), .answer(503), .answer(502),
        ]) {
            $0.recovery = [.backoff(on: [503])]
        }
        #expect(try await bench.service.execute(request).title == "T")
        #expect(chronicle.entries == [])
        #expect(await bench.service.outcome(of: request).attempts.count == 3)
        #expect(chronicle.entries == ["502"])
    }

    @Test("A request that was replaced is over: a later answer would be another job's", .clauses("UC-06"))
    func over() async throws {
        let endings = Endings()
        let bench = try ServiceBench(
            [.answer(500), .answer(200, [], #"{"title":"T"}"#)],
            observers: [endings]
        )
        var request = Self.request
        request.placeholder = { _ in Book(title: "none") }
        #expect(try await bench.service.execute(request).title == "none")
        #expect(bench.transport.sent.count == 1 && endings.jobs.count == 1)
        #expect(try await bench.service.execute(request).title == "T")
        #expect(endings.jobs.map(\.source) == [.placeholder, .upstream])
    }

    @Test("A cancelled job is replaced by nothing", .clauses("UC-04", "N-11"))
    func cancelled() async throws {
        var request = Self.request
        request.placeholder = { _ in Book(title: "none") }
        let bench = try ServiceBench([.fail(.cancelled, .unknown)]) {
            $0.recovery = [.placeholder(CannedAnswer(status: 200))]
        }
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.endedWith?.kind == .cancelled && outcome.gave == nil)
    }

    private struct Elsewhere: RecoveryStrategy {
        func recover(
            from failure: Failure,
            of request: HTTPRequest,
            context: RecoveryContext
        ) async -> RecoveryDisposition {
            guard failure.status == 404, request.target != "books/0" else { return .passOn }
            return .retry(HTTPRequest(method: .get, target: "books/0"), after: .zero)
        }
    }

    @Test(
        "Another request may stand in, chosen by the failure, and it may fail like the first",
        .clauses("UC-04"),
        arguments: [
            ([.answer(404), .answer(200, [], #"{"title":"T"}"#)], "T", 2),
            ([.answer(404), .answer(404)], "404", 2),
            ([.answer(500)], "500", 1),
        ] as [([ScriptedTransport.Step], String, Int)]
    )
    func anotherRequest(steps: [ScriptedTransport.Step], expected: String, sends: Int) async throws {
        let bench = try ServiceBench(steps) { $0.recovery = [.strategy(Elsewhere())] }
        let outcome = await bench.service.outcome(of: Self.request)
        #expect((outcome.gave?.title ?? outcome.endedWith?.status.map { "\($0.rawValue)" }) == expected)
        #expect(bench.transport.sent.map(\.target) == Array(["/v1/books/7", "/v1/books/0"].prefix(sends)))
    }

    @Test(
        "The policy's placeholder or fallback is read by the request like any answer, and marked",
        .clauses("UC-04", "N-14")
    )
    func ofThePolicy() async throws {
        let canned = CannedAnswer(bytes: Array(#"{"title":"canned"}"#.utf8))
        for (rule, source) in [
            (RecoveryRule.placeholder(canned), AnswerSource.placeholder), (.fallback(canned), .fallback),
        ] {
            let bench = try ServiceBench([.answer(503)]) { $0.recovery = [rule] }
            let outcome = await bench.service.outcome(of: Self.request)
            #expect(outcome.gave?.title == "canned" && outcome.source == source)
            #expect(outcome.recoveredBy == [source.rawValue])
        }
    }

    @Test("A policy that never fails must say how, and says so before the first request", .clauses("UC-03"))
    func neverFails() throws {
        #expect(throws: Refusal.self) { try ServiceBench([]) { $0.neverFails = true } }
        #expect(throws: Refusal.self) {
            try ServiceBench([]) {
                $0.neverFails = true
                $0.recovery = [.fail(on: [404]), .placeholder(CannedAnswer(status: 200))]
            }
        }
        #expect(throws: Refusal.self) {
            try ServiceBench([]) {
                $0.neverFails = true
                $0.recovery = [.placeholder(CannedAnswer(status: 200), on: [.serverError])]
            }
        }
    }

    @Test(
        "A failure that gets through a policy that never fails is counted and reported, and nothing aborts",
        .clauses("UC-03", "N-14")
    )
    func breach() async throws {
        let bench = try ServiceBench([.answer(500), .answer(500), .answer(200, [], #"{"title":"T"}"#)]) {
            $0.neverFails = true
            $0.recovery = [.placeholder(CannedAnswer(bytes: Array("<not a book>".utf8)))]
        }
        #expect(await bench.service.outcome(of: Self.request).endedWith?.kind == .decoding)
        #expect(bench.service.breaches == 1)
        #expect(try await bench.service.execute(Request<HTTPResponse>(.get, "x")).words == "<not a book>")
        #expect(try await bench.service.execute(Self.request).title == "T")
        #expect(bench.service.breaches == 1)
    }

    private enum Trouble: FailureInitializable, Equatable {
        case signedOut
        case unavailable(UInt16)
        case offline, unreadable, other

        init(_ failure: Failure) {
            switch failure.status?.rawValue {
            case 401: self = .signedOut
            case let status? where status >= 500: self = .unavailable(status)
            case nil where failure.sent == .neverSent: self = .offline
            default: self = failure.kind == .decoding ? .unreadable : .other
            }
        }
    }

    @Test(
        "Every failure becomes one error of the caller's own",
        .clauses("T-125"),
        arguments: [
            (.answer(401), .signedOut), (.answer(502), .unavailable(502)), (.answer(404), .other),
            (.fail(.connectionRefused, .neverSent), .offline), (.answer(200, [], "["), .unreadable),
        ] as [(ScriptedTransport.Step, Trouble)]
    )
    private func oneError(step: ScriptedTransport.Step, trouble: Trouble) async throws {
        let bench = try ServiceBench([step])
        await #expect(throws: trouble) {
            try await bench.service.execute(Self.request, throwing: Trouble.self)
        }
    }
}
