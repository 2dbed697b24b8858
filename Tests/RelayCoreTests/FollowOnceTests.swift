import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import RelayTesting
import Testing

private typealias Step = ScriptedTransport.Step

private func upstream(_ name: String, _ host: String, port: UInt16 = 443, isTLS: Bool = true) -> Upstream {
    Upstream(name: name, origin: .tcp(host: host, port: port, isTLS: isTLS))
}

private func named(_ kind: FailureKind) -> ErrorTypeRule {
    ErrorTypeRule(
        on: FailureMatcher([.kind(.operationFailed)]),
        apiCodes: [],
        kind: kind,
        treatAsStatus: nil
    )
}

/// Begins an operation with a body that comes by pieces, and says of it that it is done.
private final class Pieces: Transport {
    let body: PieceBody
    let isNamed: Bool

    init(body: PieceBody, isNamed: Bool) { (self.body, self.isNamed) = (body, isNamed) }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        var fields = HeaderFields()
        if request.method == .get {
            return InboundResponse(
                response: HTTPResponse(status: 200, body: .bytes(Array(#"{"status":"Succeeded"}"#.utf8))),
                exchange: Exchange()
            )
        }
        if isNamed { fields.append("Operation-Location", "/ops/7") }
        return InboundResponse(
            response: HTTPResponse(status: 202, fields: fields, body: .stream(body)),
            exchange: Exchange()
        )
    }
}

@Suite("A followed operation is begun once", .runQueue, .timeLimit(.minutes(5)))
struct FollowOnceTests {
    /// The attempts that the bench has sent.
    private func sent(_ bench: Bench) -> String {
        bench.transport.sent.map { "\($0.method.rawValue) \($0.target)" }.joined(separator: ", ")
    }

    /// The history of the run after the one that has begun an operation.
    private func started(_ bench: Bench, on route: Route, _ method: Method = .post) async -> JobHistory {
        JobHistory().carried(await bench.deliver(method, on: route, body: .bytes([1])))
    }

    @Test(
        "Looks stay with the origin that answered, whatever its upstream is called by then",
        arguments: [
            ([upstream("one", "one.example")], "one"), ([upstream("new", "one.example")], "new"),
            ([upstream("one", "two.example"), upstream("two", "one.example")], "two"),
            ([upstream("one", "two.example")], nil), ([upstream("new", "two.example")], nil),
            ([upstream("one", "one.example", port: 8_443)], nil),
            ([upstream("one", "one.example", port: 443, isTLS: false)], nil),
        ] as [([Upstream], String?)]
    )
    func origin(_ upstreams: [Upstream], _ asked: String?) async {
        let bench = Bench([begun, succeeded])
        let history = await started(bench, on: following())
        let route = following { $0.upstreams = upstreams }
        let run = await bench.deliver(.post, on: route, history, body: .bytes([1]))
        guard let asked else {
            #expect(run.words == "dead outcome_unknown" && bench.transport.sent.count == 1)
            // The reason is on record, with no attempt spent.
            let look = run.attempts.last
            #expect(look?.failure?.kind == .operationLost && look?.isSpent == false && look?.number == 2)
            #expect(look?.failure?.detail.contains("follows it no more") == true)
            return
        }
        #expect(run.words == "succeeded 200 followed")
        #expect(bench.transport.sent[1].upstream.name == asked)
        #expect(bench.transport.sent[1].upstream.origin.text == "https://one.example")
    }

    @Test("A record from before origins were kept leads to the upstream of that name and to no other")
    func oldRecord() async {
        var attempt = Attempt(number: 1, upstream: "one", beganAt: 0)
        attempt.next = .follow(after: .seconds(2), at: "/ops/7#")
        for (name, words) in [("one", "succeeded 200 followed"), ("new", "dead outcome_unknown")] {
            var history = JobHistory()
            history.attempts = 1
            history.count(attempt)
            #expect(history.operation?.origin == nil && history.operation?.isMonitor == true)
            let bench = Bench([succeeded])
            let route = following { $0.upstreams = [upstream(name, "one.example")] }
            #expect(await bench.deliver(.post, on: route, history, body: .bytes([1])).words == words)
        }
    }

    @Test(
        "No rule that does not name its failure has a kept job sent again, at once or later",
        arguments: [.pauseRoute(reason: "x"), .hold, retry(5, methods: .any)] as [RecoveryRule.Action],
        [nil, "render_failed"] as [FailureKind?]
    )
    func rules(_ action: RecoveryRule.Action, _ name: FailureKind?) async {
        func ends(_ on: [String]) async -> String? {
            let route = following {
                $0.recovery = [rule("r", on, action)]
                if let name { $0.errorTypes = [named(name)] }
            }
            let bench = Bench([begun, failed, begun, succeeded])
            let runs = await bench.deliverToTheEnd(.put, on: route, body: .bytes([1]))
            return runs.last?.words
        }
        #expect(await ends(["any", "2xx", "exhausted"]) == "dead exhausted")
        #expect(await ends([name?.rawValue ?? "operation_failed"]) != "dead exhausted")
    }

    @Test(
        "A caller whose failed operation has another name is not answered with a job that begins a second one"
    )
    func keeps() async {
        var respond = rule("now", ["any"], placeholder())
        respond.keepsRequest = true
        let route = following {
            $0.recovery = [respond, rule("again", ["any"], retry(5, methods: .any))]
            $0.errorTypes = [named("render_failed")]
        }
        let outcome = await Bench([begun, failed]).perform(.post, on: route, body: .bytes([1]))
        #expect(outcome.attempts.last?.heldBack.map(\.reason) == [.notKept(.operationBegan)])
    }

    /// The history of a new life, after the attempts of the one before.
    private func replayed(_ attempts: [Attempt]) -> JobHistory {
        var history = JobHistory()
        history.attempts = attempts.count
        history.beginsInDoubt()
        for attempt in attempts { history.count(earlier: attempt) }
        return history
    }

    @Test(
        "A job that is retried goes on with its operation, and is sent again once that has failed or is gone"
    )
    func nextLife() async {
        let rows: [([Step], String, String)] = [
            ([running], "GET /ops/7?v=1", "retry 2.0 seconds"),
            ([succeeded], "GET /ops/7?v=1", "succeeded 200 followed"),
            ([failed, .answer(201)], "GET /ops/7?v=1, POST /api/x", "succeeded 201 upstream"),
            ([.answer(404), begun], "GET /ops/7?v=1, POST /api/x", "retry 2.0 seconds"),
        ]
        for (steps, asked, words) in rows {
            let first = Bench([begun])
            let begins = await first.deliver(.post, on: following(), body: .bytes([1])).attempts
            let cut = Attempt(interrupted: BegunAttempt(upstream: "one", beganAt: 1), number: 2)
            var slow = Attempt(number: 3, upstream: "one", beganAt: 1)
            slow.lookUp = .running
            slow.failure = Failure(.operationLost, sent: .answered, "slow")
            let bench = Bench(steps)
            let run = await bench.deliver(
                .post,
                on: following(),
                replayed(begins + [cut, slow]),
                body: .bytes([1])
            )
            #expect(sent(bench) == asked && run.words == words)
        }
    }

    @Test("An operation that was seen to have failed is nothing to look at in another life")
    func nextLifeAfterFailure() async {
        let first = Bench([begun, failed])
        let runs = await first.deliverToTheEnd(.post, on: following(), body: .bytes([1]))
        let bench = Bench([.answer(201)])
        _ = await bench.deliver(
            .post,
            on: following(),
            replayed(runs.flatMap(\.attempts)),
            body: .bytes([1])
        )
        #expect(sent(bench) == "POST /api/x")
    }

    @Test("Crashes during looks leave the job its attempts")
    func crash() async {
        let bench = Bench([begun, failed, begun, succeeded])
        let route = following {
            $0.maxAttempts = 2
            $0.recovery = [rule("again", ["operation_failed"], retry(5, methods: .any))]
        }
        var history = await started(bench, on: route)
        for number in 2...3 {
            history.attempts += 1
            history.spentAttempts += 1
            history.count(Attempt(interrupted: BegunAttempt(upstream: "one", beganAt: 1), number: number))
        }
        #expect(history.spentAttempts == 1)
        let run = await bench.deliver(.post, on: route, history, body: .bytes([1]))
        guard case .retry = run.ending else {
            Issue.record("\(run.words)")
            return
        }
    }

    @Test("An operation has eight looks on record and its end, however they fail")
    func records() async {
        let fails: [Step] = (0..<20).map { .answer($0 % 2 == 0 ? 500 : 502) }
        let runs = await Bench([begun] + fails + [succeeded])
            .deliverToTheEnd(.post, on: following(), body: .bytes([1]))
        #expect(runs.last?.words == "succeeded 200 followed")
        #expect(runs.flatMap(\.attempts).compactMap(\.lookUp).count == BegunOperation.mostLooks + 1)
        let outcome = await Bench([begun] + fails + [succeeded]).perform(
            .post,
            on: following { $0.timeouts.total = .seconds(3_600) }
        )
        #expect(outcome.attempts.compactMap(\.lookUp).count == BegunOperation.mostLooks + 1)
    }

    @Test("The first wait ends with the operation's time, and before the job's own")
    func firstWait() async {
        let slow = Step.answer(202, ["Operation-Location": "/ops/7", "Retry-After": "600"])
        let route = following { $0.following?.timeout = .seconds(20) }
        let run = await Bench([slow]).deliver(.post, on: route, body: .bytes([1]))
        #expect(run.words == "retry 20.0 seconds")
        let bench = Bench([slow])
        var history = JobHistory()
        history.deadline = bench.time.now().advanced(by: .seconds(60))
        let short = await bench.deliver(.post, on: following(), history, body: .bytes([1]))
        #expect(short.words == "retry 59.0 seconds")
    }

    @Test(
        "An operation that is done says so at its end, also where its result cannot be fetched",
        arguments: [
            ([succeeded, .answer(404)], "answered 404"),
            ([.answer(200, [:], #"{"status":"Succeeded","at":"https://two.example/"}"#)], "another origin"),
            (Array(repeating: [succeeded, .answer(500)], count: 9).flatMap { $0 }, "did not come within"),
        ] as [([ScriptedTransport.Step], String)]
    )
    func unfetched(_ steps: [ScriptedTransport.Step], _ why: String) async {
        let route = following {
            $0.following?.result = .pointer(pointer("/at"))
            $0.following?.timeout = .seconds(10)
        }
        let runs = await Bench([begun] + steps).deliverToTheEnd(.post, on: route, body: .bytes([1]))
        let last = runs.last?.attempts.last
        let isRefused = why == "another origin"
        #expect(last?.lookUp == .done && last?.failure?.kind == (isRefused ? .followRefused : .operationLost))
        let detail = last?.failure?.detail ?? ""
        #expect(detail.contains("is done, and its result could not be fetched") && detail.contains(why))
    }

    /// Content that breaks off, and some that is larger than is read.
    private var bad: [PieceBody] {
        [
            PieceBody([Array("{".utf8)], breaks: true),
            PieceBody([[UInt8]](repeating: [UInt8](repeating: 32, count: 1_000), count: 400)),
        ]
    }

    @Test("A head that names the operation begins it, whatever becomes of its content")
    func cutContent() async {
        for body in bad {
            let bench = Bench([]).over(Pieces(body: body, isNamed: true))
            let outcome = await bench.perform(.post, on: following(), body: .bytes([1]))
            #expect(outcome.source == .followed && outcome.attempts.map(\.lookUp) == [nil, .done])
            #expect(outcome.attempts[0].heldBack.map(\.reason) == [.contentGivenUp])
        }
        for body in bad {
            let bench = Bench([]).over(Pieces(body: body, isNamed: true))
            let run = await bench.deliver(.put, on: following { $0.limits.body = 1_000 }, body: .bytes([1]))
            #expect(run.words == "retry 2.0 seconds" && run.attempts.first?.failure == nil)
        }
    }

    @Test(
        "Content that names the operation and does not come leaves it lost, and the request is not sent again"
    )
    func cutAddress() async {
        for body in bad {
            let bench = Bench([]).over(Pieces(body: body, isNamed: false))
            let route = following {
                $0.following?.location = .pointer(pointer("/at"))
                $0.limits.body = 1_000
            }
            let outcome = await bench.perform(.put, on: route, body: .bytes([1]))
            #expect(outcome.failure?.kind == .operationLost && outcome.attempts.count == 1)
        }
    }
}
