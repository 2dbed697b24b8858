import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import RelayTesting
import Testing

private typealias Step = ScriptedTransport.Step

private let accepted = Step.answer(202, ["Location": "../ops/7"])

private func statuses(_ codes: [UInt16]) -> SuccessRule {
    var rule = SuccessRule()
    rule.statuses = StatusSet(codes: codes)
    return rule
}

@Suite("Following an operation", .runQueue, .timeLimit(.minutes(5)))
struct FollowTests {
    /// Steps, what was sent, how it came out, and the words that are on record.
    struct Row: Sendable {
        var steps: [ScriptedTransport.Step]
        var sent: String
        var end: String
        var words: [String?]
        var change: @Sendable (inout RoutePolicy) -> Void

        init(
            _ steps: [ScriptedTransport.Step],
            _ sent: String,
            _ end: String,
            _ words: [String?],
            _ change: @escaping @Sendable (inout RoutePolicy) -> Void = { _ in }
        ) {
            (self.steps, self.sent, self.end, self.words) = (steps, sent, end, words)
            self.change = change
        }
    }

    @Test(
        "A 202 is looked at until it is over, and the request is sent once",
        arguments: [
            Row(
                [begun, running, running, succeeded],
                "POST /api/x, GET /ops/7?v=1, GET /ops/7?v=1, GET /ops/7?v=1",
                "followed 200",
                [nil, "done"]
            ),
            // A Location is the result itself, once it is no 202 any more; its content says nothing.
            Row(
                [accepted, .answer(202), .answer(200, [:], #"{"status":"failed"}"#)],
                "POST /api/x, GET /ops/7, GET /ops/7",
                "followed 200",
                [nil, "done"]
            ),
            Row(
                [accepted, .answer(303, ["Location": "/result/7"]), .answer(200, [:], "film")],
                "POST /api/x, GET /ops/7, GET /result/7",
                "followed 200",
                [nil, "done"]
            ),
            Row([.answer(202)], "POST /api/x", "upstream 202", [nil]),
            // An error document of the route says nothing of the operation.
            Row(
                [accepted, .answer(200, [:], #"{"error":{"code":"rate"}}"#), .answer(200, [:], "film")],
                "POST /api/x, GET /ops/7, GET /ops/7",
                "followed 200",
                [nil, "unanswered", "done"]
            ) { $0.apiError = APIErrorRule(require: [pointer("/error")]) },
            Row(
                [begun, succeeded, .answer(503), succeeded, .answer(201)],
                "POST /api/x, GET /ops/7?v=1, GET /result/7, GET /ops/7?v=1, GET /result/7",
                "followed 201",
                [nil, "unanswered", "done"]
            ) { $0.following?.result = .pointer(pointer("/at")) },
            // Only the first of several that fail alike is on record.
            Row(
                [
                    begun, .answer(503), .answer(503), .fail(.httpResponseTimeout, .unknown),
                    .answer(200, [:], "<html>"),
                    succeeded,
                ],
                "POST /api/x, " + Array(repeating: "GET /ops/7?v=1", count: 5).joined(separator: ", "),
                "followed 200",
                [nil, "unanswered", "unanswered", "unanswered", "done"]
            ),
            // However its rules read, the request is not sent again.
            Row(
                [begun, failed],
                "POST /api/x, GET /ops/7?v=1",
                "operation_failed answered",
                [nil, "failed"]
            ),
            Row(
                [begun, .answer(404)],
                "POST /api/x, GET /ops/7?v=1",
                "operation_lost answered",
                [nil, "gone"]
            ),
            Row(
                [begun, failed, begun, succeeded],
                "POST /api/x, GET /ops/7?v=1, POST /api/x, GET /ops/7?v=1",
                "followed 200",
                [nil, "failed", nil, "done"]
            ) { $0.recovery = [rule("again", ["operation_failed"], retry(5, methods: .any))] },
            // An answer is read in the route's own words.
            Row(
                [.answer(200, [:], #"{"link":"https://one.example/j/1"}"#), .answer(200), .answer(410)],
                "POST /api/x, GET /j/1, GET /j/1",
                "operation_failed answered",
                [nil, "failed"]
            ) {
                $0.following?.when = statuses([200])
                $0.following?.location = .pointer(pointer("/link"))
                $0.following?.done = statuses([201])
                $0.following?.failed = statuses([410])
            },
        ]
    )
    func table(_ row: Row) async {
        let bench = Bench(row.steps)
        let outcome = await bench.perform(.post, on: following(row.change), body: .bytes([1]))
        let sent = bench.transport.sent.map { "\($0.method.rawValue) \($0.target)" }
        #expect(sent.joined(separator: ", ") == row.sent)
        let end = outcome.failure.map { "\($0.kind) \($0.sent.rawValue)" }
        #expect((end ?? "\(outcome.source?.rawValue ?? "") \(outcome.status ?? 0)") == row.end)
        #expect(outcome.attempts.map(\.lookUp?.rawValue) == row.words)
        #expect(outcome.attempts.map(\.number) == Array(1...row.words.count))
    }

    @Test(
        "Only the origin that answered is asked, at an address of bounded length that is one",
        arguments: [
            ("https://one.example/ops/7", nil), ("//one.example/ops/7", nil),
            ("https://ONE.example:443/ops/7", nil),
            ("https://two.example/ops/7?t=s3cret", "another origin"),
            ("http://one.example/ops/7", "another origin"),
            ("https://one.example:8443/ops/7", "another origin"), ("//evil.example/ops/7", "another origin"),
            ("https://one.example@evil.example/ops/7", "another origin"), ("ftp:ops/7", "another origin"),
            ("/ops/\\evil", "characters"), ("/ops/a b", "characters"), ("/ops/\u{E9}", "characters"),
            ("/" + String(repeating: "a", count: 2_048), "2048 bytes"),
        ] as [(String, String?)]
    )
    func address(_ text: String, _ fault: String?) async {
        let bench = Bench([.answer(202, ["Operation-Location": text]), succeeded])
        let outcome = await bench.perform(.post, on: following())
        guard let fault else {
            #expect(outcome.source == .followed && bench.transport.sent[1].target == "/ops/7")
            return
        }
        #expect(bench.transport.sent.count == 1 && outcome.failure?.kind == .followRefused)
        let detail = outcome.failure?.detail ?? ""
        #expect(detail.contains(fault) && !detail.contains("s3cret") && !detail.contains("evil"))
    }

    @Test(
        "A look carries the route's credential, what its requests carry, and what the caller takes for an answer"
    )
    func look() async {
        let bench = Bench(
            [begun, .answer(503), succeeded],
            credentials: [CredentialDefinition(name: "key", kind: .fixed(.environment("KEY")))],
            secrets: [.environment("KEY"): Secret("s3cret")]
        )
        let route = following {
            $0.authentication = Authentication(form: .bearer, credential: "key")
            $0.request.setFields = [("X-Version", "2")]
        }
        var fields = HeaderFields()
        fields.append("Accept", "image/png")
        let outcome = await bench.perform(.post, on: route, fields: fields, body: .bytes([1]))
        #expect(outcome.source == .followed)
        for look in bench.transport.sent.dropFirst() {
            #expect(look[.authorization] == "Bearer s3cret" && look[FieldName("x-version")!] == "2")
            #expect(look[FieldName("accept")!] == "image/png" && look.body.length == 0)
            #expect(look.method == .get && look.upstream.name == "one")
        }
        #expect(
            outcome.attempts[0].next == .follow(after: .seconds(2), at: "/ops/7?v=1# https://one.example")
        )
    }

    @Test("The waits grow with the operation's age, and are as long as the upstream asks, within bounds")
    func waits() async {
        let steps = [
            begun, running, running, running, running,
            .answer(200, ["Retry-After": "1"], #"{"status":"Running"}"#),
            .answer(200, ["Retry-After": "90"], #"{"status":"Running"}"#), succeeded,
        ]
        let bench = Bench(steps)
        let route = following {
            $0.timeouts.total = .seconds(600)
            $0.following?.maxInterval = .seconds(5)
        }
        #expect(await bench.perform(.post, on: route).source == .followed)
        #expect(bench.time.waits == [2, 2, 2, 3, 4.5, 5, 90].map { .milliseconds(Int($0 * 1_000)) })
        let settings = Following()
        for asked in [nil, .seconds(1)] as [Duration?] {
            #expect(settings.wait(age: .seconds(86_400), asked) == .seconds(864))
            #expect(settings.wait(age: .seconds(1_000), asked) == .seconds(30))
        }
        #expect(settings.wait(age: .zero, .seconds(100_000)) == .seconds(900))
    }

    @Test("A caller whose time is over before the operation is gets the answer that has begun it")
    func begins() async {
        let bench = Bench([begun] + Array(repeating: running, count: 20))
        let route = following { $0.timeouts.total = .seconds(7) }
        let outcome = await bench.perform(.post, on: route)
        #expect(outcome.source == .begun && outcome.status == 202 && outcome.text == #"{"id":7}"#)
        #expect(bench.transport.sent.map(\.method) == [.post, .get, .get, .get])
        #expect(outcome.attempts[0].heldBack.map(\.rule) == ["follow"])
        // A look that fails until then changes nothing of it.
        let broken = Bench([begun] + Array(repeating: .fail(.connectionRefused, .neverSent), count: 20))
        #expect(await broken.perform(.post, on: route).source == .begun)
    }

    @Test("An answer that names no address is a failure where the route says that it begins an operation")
    func nameless() async {
        let stated = following { $0.following?.location = .field(FieldName("X-Job")!) }
        #expect(await Bench([begun]).perform(.post, on: stated).failure?.kind == .operationLost)
    }

    @Test(
        "A document's status ends an operation by a usual word alone, in any case, and one without a word goes on",
        arguments: [
            (#"{"status":"Completed"}"#, nil), (#"{"status":"SUCCEEDED"}"#, nil),
            (#"{"status":"done"}"#, nil),
            (#"{"id":7}"#, nil), (#"{"status":null}"#, nil), (#"{"status":"Error"}"#, .operationFailed),
            (#"{"status":"EXPIRED"}"#, .operationFailed), (#"{"status":"queued"}"#, nil),
            (#"{"status":2}"#, nil), (#"{"status":true}"#, nil), ("", nil),
        ] as [(String, FailureKind?)]
    )
    func words(_ content: String, _ kind: FailureKind?) async {
        let goesOn = ["", #"{"status":2}"#, #"{"status":true}"#, #"{"status":"queued"}"#].contains(content)
        let look = content.isEmpty ? Step.answer(204) : Step.answer(200, [:], content)
        let bench = Bench([begun, look, succeeded])
        let outcome = await bench.perform(.post, on: following(), body: .bytes([1]))
        #expect(outcome.failure?.kind == kind && bench.transport.sent.count == (goesOn ? 3 : 2))
    }

    @Test("Looks that leave no attempt are counted, and none of them as a failure of the upstream")
    func counted() async {
        let memory = RouteMemory(meter: RouteMeter(shards: 1))
        let outcome = await Bench([begun, running, .answer(503), .answer(503), succeeded])
            .perform(.post, on: following(), memory: memory)
        memory.count(outcome.report, shard: 0, wall: 0)
        let counts = memory.meter.figures.account.lookUps
        #expect(counts[.running] == 1 && counts[.unanswered] == 2 && counts[.done] == 1)
    }
}

@Suite("Following the operation of a kept job", .runQueue, .timeLimit(.minutes(5)))
struct KeptFollowTests {
    @Test("Each look is a run of its own, whose wait is the store's")
    func runs() async {
        let bench = Bench([begun, running, .answer(503), succeeded])
        let runs = await bench.deliverToTheEnd(.post, on: following(), body: .bytes([1]))
        #expect(
            runs.map(\.words) == [
                "retry 2.0 seconds", "retry 2.0 seconds", "retry 2.0 seconds", "succeeded 200 followed",
            ]
        )
        #expect(
            runs[0].ending == .retry(after: .seconds(2), .following) && runs[0].answerText == #"{"id":7}"#
        )
        #expect(runs.map(\.attempts.count) == [1, 0, 1, 1])
        #expect(bench.transport.sent.map(\.method) == [.post, .get, .get, .get])
        #expect(runs.flatMap(\.attempts).count { $0.isSpent } == 1)
    }

    /// A job whose operation has begun.
    private func started(_ bench: Bench, on route: Route) async -> JobHistory {
        let run = await bench.deliver(.post, on: route, body: .bytes([1]))
        #expect(run.isUncertain)
        var history = JobHistory().carried(run)
        if history.isInDoubt { history.beginsInDoubt() }
        return history
    }

    @Test("A crash while it goes on costs nothing and sends nothing again")
    func crash() async {
        let bench = Bench([begun, succeeded])
        let route = following { $0.maxAttempts = 2 }
        var history = await started(bench, on: route)
        for number in 2...4 {
            history.attempts += 1
            history.spentAttempts += 1
            history.count(Attempt(interrupted: BegunAttempt(upstream: "one", beganAt: 1), number: number))
        }
        let run = await bench.deliver(.post, on: route, history, body: .bytes([1]))
        #expect(run.words == "succeeded 200 followed" && run.attempts.map(\.number) == [5])
        #expect(bench.transport.sent.map(\.method) == [.post, .get])
    }

    @Test("A route that follows no more leaves it in doubt, and sends nothing")
    func unfollowed() async {
        for change in [
            { $0.following = nil }, { $0.upstreams[0] = Upstream(name: "new", origin: .unix(path: "/s")) },
        ]
            as [@Sendable (inout RoutePolicy) -> Void]
        {
            let bench = Bench([begun])
            let history = await started(bench, on: following())
            let run = await bench.deliver(.post, on: following(change), history, body: .bytes([1]))
            #expect(run.words == "dead outcome_unknown" && bench.transport.sent.count == 1)
        }
    }

    @Test("An operation that takes too long, or is gone, leaves the job in doubt")
    func lost() async {
        let slow = Bench([begun] + Array(repeating: running, count: 100))
        let route = following {
            $0.following?.timeout = .seconds(20)
            $0.recovery = [rule("again", ["any"], retry(5))]
        }
        let runs = await slow.deliverToTheEnd(.post, on: route, body: .bytes([1]))
        #expect(runs.last?.words == "dead not_repeatable" && runs.last?.failure?.kind == .operationLost)
        #expect(slow.time.now() >= Instant(nanoseconds: 0).advanced(by: .seconds(20)))
        let gone = await Bench([begun, .answer(410)]).deliverToTheEnd(.post, on: route, body: .bytes([1]))
        #expect(gone.last?.words == "dead not_repeatable")
    }

    @Test("A rule that names the failure has the request sent again, and no other rule")
    func again() async {
        let route = following { $0.recovery = [rule("again", ["operation_failed"], retry(3, methods: .any))] }
        let bench = Bench([begun, failed, begun, succeeded])
        let runs = await bench.deliverToTheEnd(.post, on: route, body: .bytes([1]))
        #expect(runs.last?.words == "succeeded 200 followed")
        #expect(bench.transport.sent.map(\.method) == [.post, .get, .post, .get])
        let other = Bench([begun, failed])
        let ends = await other.deliverToTheEnd(.put, on: following(), body: .bytes([1]))
        #expect(ends.last?.words == "dead exhausted")
        #expect(ends.last?.attempts.last?.heldBack.map(\.reason) == [.operationBegan])
    }

    @Test("A stop during a look burns nothing")
    func stop() async {
        let bench = Bench([begun, .hold])
        let before = await started(bench, on: following())
        let task = Task { await bench.deliver(.post, on: following(), before, body: .bytes([1])) }
        await untilIdle()
        task.cancel()
        let run = await task.joined()
        #expect(run.words == "back now" && run.attempts.isEmpty)
    }
}
