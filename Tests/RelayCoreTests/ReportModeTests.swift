import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("Parts and rules that only tell what they would do", .runQueue, .timeLimit(.minutes(1)))
struct ReportModeTests {
    /// The parts that would have held back each attempt of an outcome, and the rules that would have acted.
    private func told(_ outcome: Outcome) -> [[String]] {
        outcome.attempts.map { attempt in
            attempt.heldBack.compactMap { if case .reported = $0.reason { $0.rule } else { nil } }
        }
    }

    private func route(_ reports: Bool, _ change: (inout TrafficSettings, Bool) -> Void) -> Route {
        makeRoute {
            $0.traffic = .off
            change(&$0.traffic, reports)
        }
    }

    @Test(
        "A breaker that reports sends all, does not see what it would have stopped, and probes as it would",
        arguments: [true, false]
    )
    func breaker(reports: Bool) async {
        let route = route(reports) {
            $0.breaker.isEnabled = true
            $0.breaker.consecutiveFailures = 2
            $0.breaker.reports = $1
        }
        let bench = Bench([]) { $0.target.hasSuffix("good") ? .answer(200) : .answer(503) }
        let memory = RouteMemory()
        var outcomes: [Outcome] = []
        for _ in 0..<5 { outcomes.append(await bench.perform("GET", "bad", on: route, memory: memory)) }
        #expect(bench.transport.sent.count == (reports ? 5 : 2))
        #expect(
            outcomes.map { $0.failure?.kind } == Array(repeating: .httpStatus, count: reports ? 5 : 2)
                + Array(repeating: .breakerOpen, count: reports ? 0 : 3)
        )
        let standing = memory.traffic.standing(of: route, bench.time.now())
        #expect(standing.upstreams[0].breaker == (reports ? .wouldBeOpen : .open))
        guard reports else { return }
        #expect(
            outcomes.flatMap(told) == [[], [], ["circuit_breaker"], ["circuit_breaker"], ["circuit_breaker"]]
        )
        #expect(
            outcomes[2].attempts[0].description.contains(
                "would have held the attempt back, as the upstream fails (mode report)"
            )
        )
        // That others succeed says nothing to it: it would not have sent them. The next probe does.
        #expect(told(await bench.perform("GET", "bad", on: route, memory: memory)) == [["circuit_breaker"]])
        bench.time.advance(by: .seconds(1))
        #expect(told(await bench.perform("GET", "good", on: route, memory: memory)) == [[]])
        #expect(memory.traffic.standing(of: route, bench.time.now()).upstreams[0].breaker == .closed)
        #expect(told(await bench.perform("GET", "good", on: route, memory: memory)) == [[]])
    }

    @Test("An operator's word holds attempts back whatever the breaker's mode")
    func forced() async {
        let route = route(true) {
            $0.breaker.isEnabled = true
            $0.breaker.reports = $1
        }
        let (bench, memory) = (Bench([.answer(200)]), RouteMemory())
        let now = bench.time.now()
        memory.traffic.order(.open, of: "one", route, until: now.advanced(by: .seconds(60)), now)
        #expect(await bench.perform(on: route, memory: memory).failure?.kind == .breakerOpen)
        #expect(memory.traffic.capacity(route, now).count == 0)
    }

    @Test("A breaker, a rate and a window that report leave kept jobs all their room")
    func capacity() async {
        let route = makeRoute {
            $0.traffic.breaker.consecutiveFailures = 2
            $0.traffic.breaker.reports = true
            $0.traffic.window.reports = true
            $0.traffic.window.initial = 1
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(60))
            $0.traffic.rateLimit?.reports = true
        }
        let (bench, memory) = (Bench([]) { _ in .answer(503) }, RouteMemory())
        memory.traffic.configured(route)
        for _ in 0..<3 { _ = await bench.perform(on: route, memory: memory) }
        #expect(bench.transport.sent.count == 3)
        let room = memory.traffic.capacity(route, bench.time.now(), atMost: 7)
        #expect(room.count == 7 && room.hold == nil && memory.traffic.width == .max)
    }

    @Test(
        "A rate that reports has nobody wait, and takes the turns that it would have given",
        arguments: [true, false]
    )
    func rate(reports: Bool) async {
        let route = route(reports) {
            $0.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(10))
            $0.rateLimit?.reports = $1
        }
        let (bench, memory) = (Bench([]) { _ in .answer(200) }, RouteMemory())
        var outcomes: [Outcome] = []
        for _ in 0..<4 { outcomes.append(await bench.perform(on: route, memory: memory)) }
        #expect(bench.time.waits == (reports ? [] : [.seconds(10), .seconds(10), .seconds(10)]))
        guard reports else { return }
        #expect(outcomes.flatMap(told) == [[], ["rate_limit"], ["rate_limit"], ["rate_limit"]])
        // Two have taken their turns; the third, at 30 s, would not have had the time to wait for its.
        bench.time.advance(by: .seconds(29))
        #expect(told(await bench.perform(on: route, memory: memory)) == [["rate_limit"]])
        bench.time.advance(by: .seconds(40))
        #expect(told(await bench.perform(on: route, memory: memory)) == [[]])
    }

    @Test(
        "An upstream's word that there is too much holds nobody back where throttling reports",
        arguments: [true, false]
    )
    func throttling(reports: Bool) async {
        let route = route(reports) {
            $0.throttling.isEnabled = true
            $0.throttling.longest = .seconds(60)
            $0.throttling.reports = $1
        }
        let bench = Bench([.answer(503, [("Retry-After", "5")]), .answer(200), .answer(200)])
        let memory = RouteMemory()
        _ = await bench.perform(on: route, memory: memory)
        let held = await bench.perform(on: route, memory: memory)
        #expect(bench.time.waits == (reports ? [] : [.seconds(5)]) && held.status == 200)
        guard reports else { return }
        #expect(told(held) == [["throttling"]])
        #expect(memory.traffic.standing(of: route, bench.time.now()).upstreams.first?.heldUntil == nil)
        #expect(memory.traffic.capacity(route, bench.time.now(), atMost: 7).hold == nil)
        bench.time.advance(by: .seconds(5))
        #expect(told(await bench.perform(on: route, memory: memory)) == [[]])
    }

    @Test("A budget that reports lets the retry go, which counts for nothing", arguments: [true, false])
    func budget(reports: Bool) async {
        let route = makeRoute {
            $0.traffic = .off
            $0.traffic.budget.isEnabled = true
            ($0.traffic.budget.percent, $0.traffic.budget.floor) = (0, 0)
            $0.traffic.budget.reports = reports
            $0.recovery = [rule("again", ["503"], retry(3))]
        }
        let (bench, memory) = (Bench([]) { _ in .answer(503) }, RouteMemory())
        let outcome = await bench.perform(on: route, memory: memory)
        #expect(outcome.attempts.count == (reports ? 3 : 1))
        #expect(told(outcome) == (reports ? [["retry_budget"], ["retry_budget"], []] : [[]]))
        #expect(memory.traffic.standing(of: route, bench.time.now()).retries == 0)
    }

    @Test(
        "A window that reports holds nothing back, and tells so of each attempt beyond it",
        arguments: [true, false]
    )
    func window(reports: Bool) {
        let route = route(reports) {
            $0.window.isEnabled = true
            $0.window.initial = 2
            $0.window.reports = $1
        }
        var machine = RouteTrafficMachine()
        let answers = (0..<3).map { _ in
            machine.grant(route, .init(kind: .first, upstreamIndex: 0, isKept: false, slot: .none), at(0))
        }
        guard case .go(let second) = answers[1] else { return #expect(Bool(false)) }
        #expect(second.reported.isEmpty)
        switch answers[2] {
        case .go(let grant): #expect(reports && grant.reported == .window)
        case .held(let hold, _): #expect(!reports && hold.reason == .windowFull)
        }
    }

    private static let actions: [(RecoveryRule.Action, String)] = [
        (retry(3), "sent it again after 100ms"), (.failover(upstream: 1), "sent it to two"),
        (placeholder(), "answered with the placeholder"), (.fail, "ended it with the failure"),
        (.deadLetter, "given it up"), (.pauseRoute(reason: "x"), "paused the route"), (.hold, "put it aside"),
    ]

    @Test(
        "A rule that reports decides for nobody, and those below it are read as if it were not there",
        arguments: 0..<actions.count
    )
    func rules(index: Int) async {
        let (action, words) = Self.actions[index]
        func outcome(_ reports: Bool) async -> Outcome {
            let bench = Bench([]) { _ in .answer(503) }
            let route = makeRoute {
                $0.traffic = .off
                var rule = rule("new", ["503"], action)
                rule.reports = reports
                $0.recovery = [rule, RelayTestSupport.rule("old", ["503"], placeholder("old"))]
            }
            return await bench.perform(on: route)
        }
        let told = await outcome(true)
        #expect(told.text == "old" && told.attempts.count == 1 && told.attempts[0].rule == "old")
        #expect(told.attempts[0].heldBack == [HeldBack(rule: "new", reason: .reported(words))])
        let acts = await outcome(false)
        #expect(acts.attempts[0].rule == "new")
    }

    @Test(
        "A rule that reports has used up in the next run of a kept job what it would have in the last",
        arguments: [true, false]
    )
    func runs(isStored: Bool) {
        var history = JobHistory()
        var attempt = Attempt(number: 1, upstream: "one", beganAt: 0)
        let words = HeldBack.Reason.reported("sent it again after 1s")
        attempt.heldBack = [HeldBack(rule: "new", reason: isStored ? .recorded(words.text) : words)]
        history.count(attempt)
        attempt.heldBack = [HeldBack(rule: "new", reason: .recorded("not repeated"))]
        history.count(attempt)
        #expect(history.ruleUses == ["new": 1])
    }

    @Test("A rule that only tells is none for anything that asks whether there is one")
    func scans() {
        let route = makeRoute {
            var rules = [
                rule("a", ["any"], retry(3, methods: .any)), rule("b", ["any"], .respondStale),
                rule("c", ["503"], .failover(upstream: 1)),
            ]
            for index in rules.indices { rules[index].reports = true }
            $0.recovery = rules
        }
        #expect(!route.answersStale && !route.repeatsAny && route.failovers.open.isEmpty)
        #expect(
            !route.mayRepeat(
                .post,
                isKeyed: false,
                after: Failure(.httpResponseTimeout, sent: .unknown, ""),
                isExhausted: false
            )
        )
        #expect(RouteAccount().wouldHave(route).map(\.name) == ["a", "b", "c"])
    }

    @Test("How often each would have acted is counted, also for requests that succeed")
    func counts() async {
        let route = makeRoute {
            $0.traffic = .off
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(60))
            $0.traffic.rateLimit?.reports = true
        }
        var account = RouteAccount()
        let (bench, memory) = (Bench([]) { _ in .answer(200) }, RouteMemory())
        for _ in 0..<3 {
            for attempt in await bench.perform(on: route, memory: memory).attempts { account.count(attempt) }
        }
        #expect(account.wouldHave(route).map(\.count) == [2])
    }
}
