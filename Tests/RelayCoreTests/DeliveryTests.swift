import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("One run of a durable job", .timeLimit(.minutes(5)))
struct DeliveryTests {
    private let oneHour = Duration.seconds(3_600)

    @Test(
        "A job of a route without rules is tried again later when the upstream is down",
        arguments: [
            (.fail(.connectionRefused, .neverSent), "retry"),
            (.fail(.httpResponseTimeout, .unknown), "retry"),
            (.answer(503), "retry"), (.answer(400), "dead exhausted"),
        ] as [(ScriptedTransport.Step, String)]
    )
    func later(step: ScriptedTransport.Step, words: String) async {
        let bench = Bench([step])
        let delivery = await bench.deliver(.get, on: makeRoute { $0.deliversLater = true }, JobHistory())
        #expect(delivery.words.hasPrefix(words), "\(delivery.words)")
        if case .retry(let wait, _) = delivery.ending {
            #expect((.seconds(4) ... .seconds(6)).contains(wait))
        }
    }

    @Test(
        "A refusal of one request too many costs a job of a route without rules no attempt, only moments of waiting",
        arguments: [([:], 429), (["Retry-After": "1"], 503)] as [([String: String], UInt16)]
    )
    func tooMany(fields: [String: String], status: UInt16) async {
        let refusal = ScriptedTransport.Step.answer(Status(rawValue: status), fields.map { ($0, $1) })
        let bench = Bench(Array(repeating: refusal, count: 30) + [.answer(200)])
        let runs = await bench.deliverToTheEnd(on: makeRoute { $0.deliversLater = true })
        #expect(runs.last?.words == "succeeded 200 upstream", "\(runs.map(\.words))")
        let waits: [Duration] = runs.compactMap { run in
            if case .retry(let wait, _) = run.ending { wait } else { nil }
        }
        #expect(waits.count == 30 && waits.allSatisfy { $0 <= .seconds(256) })
        #expect(fields.isEmpty ? waits[0] <= .milliseconds(250) : waits[0] == .seconds(1))
        #expect(runs.flatMap(\.attempts).count { $0.isSpent } == 1)
    }

    @Test("A success ends the job with the whole answer, and no event tells of it from here")
    func success() async {
        let bench = Bench([.answer(503), .answer(200, [], "done")])
        let route = makeRoute { $0.recovery = [rule("other", ["503"], .failover(upstream: 1))] }
        let run = await bench.deliver(on: route)
        #expect(run.words == "succeeded 200 upstream" && run.answerText == "done")
        #expect(run.attempts.map(\.upstream) == ["one", "two"])
        let told = bench.sink.events.map { if case .attemptFailed = $0 { "attempt failed" } else { "other" } }
        #expect(told == ["attempt failed"])
    }

    @Test(
        "A wait of any length ends the run: nothing sleeps, and the last answer goes along",
        arguments: [0, 7]
    )
    func firstWait(seconds: Int64) async {
        let bench = Bench([.answer(503, [], "busy"), .answer(200)])
        let run = await bench.deliver(
            on: makeRoute { $0.recovery = [rule("r", ["503"], retry(wait: .seconds(seconds)))] }
        )
        #expect(run.words == "retry \(Duration.seconds(seconds))" && run.answerText == "busy")
        #expect(bench.time.waits.isEmpty && bench.transport.sent.count == 1)
        #expect(run.attempts.map(\.next) == [.retry(after: .seconds(seconds))])
    }

    @Test("The last answer of a run is kept when a later attempt had none")
    func lastAnswer() async {
        let bench = Bench([.answer(500, [], "why"), .fail(.connectionRefused, .neverSent)])
        let run = await bench.deliver(
            on: makeRoute { $0.recovery = [rule("other", ["500"], .failover(upstream: 1))] }
        )
        #expect(run.words == "dead exhausted" && run.failure?.kind == .connectionRefused)
        #expect(run.answer?.status == 500 && run.answerText == "why")
    }

    @Test("A schedule goes on where it was, over as many runs as it has waits")
    func schedule() async {
        var policy = RetryPolicy()
        policy.maxAttempts = 4
        policy.backoff = Backoff(
            schedule: .list([.seconds(5), .seconds(60), .seconds(300)]),
            jitter: .none
        )
        let again = policy
        let bench = Bench([]) { _ in .answer(503) }
        let runs = await bench.deliverToTheEnd(
            on: makeRoute { $0.recovery = [rule("r", ["5xx"], .retry(again))] }
        )
        let waits: [Duration] = [.seconds(5), .seconds(60), .seconds(300)]
        #expect(runs.map(\.words) == waits.map { "retry \($0)" } + ["dead exhausted"])
        #expect(runs.flatMap(\.attempts).map(\.number) == [1, 2, 3, 4])
        #expect(runs.last?.attempts.last?.heldBack == [HeldBack(rule: "r", reason: .ruleSpent(4))])
    }

    @Test("The job's cap is its delivery's, lowered by the caller, and counts the attempts of earlier runs")
    func cap() async {
        let route = makeRoute {
            $0.maxAttempts = 2
            $0.delivery.maxAttempts = 5
            $0.recovery = [rule("r", ["5xx"], retry(100))]
        }
        let steps: @Sendable (OutboundRequest) -> ScriptedTransport.Step = { _ in .answer(503) }
        #expect(await Bench([], answer: steps).deliverToTheEnd(on: route).count == 5)
        var options = JobOptions()
        options.maxAttempts = 3
        var history = JobHistory()
        history.attempts = 7
        history.spentAttempts = 2
        let run = await Bench([], answer: steps).deliver(on: route, history, options: options)
        #expect(run.words == "dead exhausted" && run.attempts.map(\.number) == [8])
        #expect(run.attempts[0].heldBack == [HeldBack(rule: "r", reason: .attemptsSpent(3))])
    }

    @Test("Each run begins again at the first upstream, and may go to the other one again")
    func freshRun() async {
        let bench = Bench([]) { _ in .answer(503) }
        let runs = await bench.deliverToTheEnd(
            on: makeRoute {
                $0.recovery = [
                    rule("other", ["5xx"], .failover(upstream: 1)), rule("later", ["exhausted"], retry(3)),
                ]
            }
        )
        #expect(runs.flatMap(\.attempts).map(\.upstream) == ["one", "two", "one", "two", "one", "two"])
    }

    @Test("Neither timeouts.total nor the caller's timeout bounds a durable job; its expiry does")
    func noTotal() async {
        let route = makeRoute {
            $0.timeouts.total = .seconds(30)
            $0.recovery = [rule("r", ["503"], retry(wait: .seconds(3_600)))]
        }
        #expect(await Bench([.answer(503)]).deliver(on: route).words == "retry \(oneHour)")
        var history = JobHistory()
        history.deadline = Instant(nanoseconds: 0).advanced(by: oneHour)
        let late = await Bench([.answer(503)]).deliver(on: route, history)
        #expect(late.words == "dead exhausted")
        #expect(late.attempts[0].heldBack == [HeldBack(rule: "r", reason: .deadline(wait: oneHour))])
    }

    @Test(
        "A job whose earlier life left it in doubt ends so, whatever it fails of now; one without doubt does not",
        arguments: [
            (.fail(.connectionRefused, .neverSent), []), (.answer(400), []),
            (.answer(400), [rule("over", ["any"], .deadLetter)]),
        ] as [(ScriptedTransport.Step, [RecoveryRule])]
    )
    func earlierDoubt(step: ScriptedTransport.Step, rules: [RecoveryRule]) async {
        let route = makeRoute { $0.recovery = rules }
        var history = JobHistory()
        history.isInDoubt = true
        let run = await Bench([step]).deliver(.post, on: route, history)
        #expect(run.words == "dead outcome_unknown" && !run.isUncertain)
        let plain = await Bench([step]).deliver(.post, on: route)
        #expect(plain.words == (rules.isEmpty ? "dead exhausted" : "dead rejected"))
        let good = await Bench([.answer(200)]).deliver(.post, on: route, history)
        #expect(good.words == "succeeded 200 upstream")
    }

    @Test(
        "A run that puts a job aside says whether an attempt may have been carried out",
        arguments: [
            (.fail(.connectionTerminated, .unknown), .post, true), (.answer(500), .post, true),
            (.answer(400), .post, false), (.fail(.connectionTerminated, .unknown), .put, false),
            (.fail(.connectionRefused, .neverSent), .post, false),
        ] as [(ScriptedTransport.Step, RelayBase.Method, Bool)]
    )
    func putAsideInDoubt(step: ScriptedTransport.Step, method: RelayBase.Method, isInDoubt: Bool) async {
        let route = makeRoute { $0.recovery = [rule("look", ["any"], .hold)] }
        let run = await Bench([step]).deliver(method, on: route)
        #expect(run.words == "held" && run.isUncertain == isInDoubt)
    }

    @Test("A job whose time ran out is expired: untried, after an attempt, and before the next upstream")
    func expiry() async {
        var history = JobHistory()
        history.deadline = Instant(nanoseconds: 0)
        let untried = Bench([.answer(200)])
        let first = await untried.deliver(on: makeRoute(), history)
        #expect(first.words == "expired untried" && untried.transport.sent.isEmpty)
        history.deadline = Instant(nanoseconds: 1_000_000_000)
        let route = makeRoute { $0.recovery = [rule("other", ["503"], .failover(upstream: 1))] }
        let slow = await Bench([.take(.seconds(2)), .answer(503), .answer(200)]).deliver(on: route, history)
        #expect(slow.words == "expired" && slow.attempts.count == 1 && slow.failure?.status == 503)
    }

    @Test(
        "A rule's action decides what becomes of the job",
        arguments: [
            ("dead_letter", "dead rejected"), ("fail", "dead exhausted"), ("hold", "held"),
            ("pause_route", "paused: gone"), ("none", "dead exhausted"),
        ]
    )
    func rules(action: String, words: String) async {
        let actions: [String: RecoveryRule.Action] = [
            "dead_letter": .deadLetter, "fail": .fail, "hold": .hold,
            "pause_route": .pauseRoute(reason: "gone"),
        ]
        let route = makeRoute { $0.recovery = actions[action].map { [rule("r", ["410"], $0)] } ?? [] }
        let run = await Bench([.answer(410, [], "gone")]).deliver(on: route)
        #expect(run.words == words && run.answerText == "gone")
        let direct = await Bench([.answer(410)]).perform(on: route)
        #expect(direct.failure?.status == 410 && direct.status == 410)
    }

    @Test("An answer in the upstream's stead delivers nothing: it is held back, and reading goes on below it")
    func standIns() async {
        let route = makeRoute {
            $0.response.keepsLastGood = LastGoodRule(maxAge: .seconds(60))
            $0.recovery = [
                rule("placeholder", ["5xx"], placeholder()), rule("stale", ["any"], .respondStale),
                rule("later", ["5xx"], retry()),
            ]
        }
        let bench = Bench([.answer(500)])
        let run = await bench.deliver(on: route)
        #expect(run.words == "retry \(Duration.milliseconds(100))")
        #expect(
            run.attempts[0].heldBack == [
                HeldBack(rule: "placeholder", reason: .deliversNothing),
                HeldBack(rule: "stale", reason: .deliversNothing),
            ]
        )
    }

    @Test("A preparation that fails ends the job before anything is sent")
    func preparation() async {
        let bench = Bench([.answer(200)])
        let run = await bench.deliver(
            .post,
            on: makeRoute {
                $0.request.wrap = pointer("/data")
                $0.recovery = [rule("r", ["any"], retry())]
            },
            body: .bytes(Array("no json".utf8))
        )
        #expect(run.words == "dead rejected" && run.attempts.isEmpty && bench.transport.sent.isEmpty)
    }
}
