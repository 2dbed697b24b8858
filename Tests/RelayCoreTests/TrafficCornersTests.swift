import RelayTestSupport
import Synchronization
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayJobs
@testable import RelayRoute

/// The corners that the worlds of `Tests/Simulation/run --traffic` have found.
@Suite("Corners of what a route's requests do together", .runQueue, .timeLimit(.minutes(1)))
struct TrafficCornersTests {
    @Test("A kept job is tried again where nothing else is sent and no retry may be under way, one at a time")
    func loneRetry() {
        var settings = RetryBudgetSettings()
        (settings.percent, settings.floor) = (0, 0)
        var machine = RetryBudgetMachine()
        #expect(machine.hasCapacity(settings, at(0)) == false)
        #expect(machine.hasCapacity(settings, isKept: true, at(0)) == true)
        machine.retryBegan()
        #expect(machine.hasCapacity(settings, isKept: true, at(0)) == false)
    }

    @Test("Four retries that fail within a second take a place of the floor")
    func placesOfTheFloor() {
        let settings = RetryBudgetSettings()
        var machine = RetryBudgetMachine()
        var retries = 0
        for millisecond in 0..<10_000 {
            let now = at(Double(millisecond) / 1_000)
            if millisecond % 10 == 0 { machine.began(now) }
            guard machine.hasCapacity(settings, isKept: true, now) else { continue }
            machine.retryBegan()
            machine.retryEnded(succeeded: false, now)
            retries += 1
        }
        #expect(retries <= 100 + 12 * 10 + 12, "a tenth of 1,000, and twelve a second")
        #expect(machine.left(settings, at(10.1)).map { $0 <= settings.floor } == true)
    }

    @Test("The first turn that is left to kept jobs is none that a request has, or takes next")
    func firstTurn() {
        let spacing = RateSpacing(interval: 100_000_000, burst: 1)
        var machine = RateLimitMachine()
        var turns: [Instant] = []
        func request(_ now: Instant) {
            let next = machine.next(spacing, .request, now)
            machine.take(spacing, .request, at: next, now)
            turns.append(next)
        }
        for _ in 0..<3 { request(at(0)) }
        machine.wanted(spacing, at(0.05), until: at(0.05))
        for _ in 0..<3 { request(at(0.05)) }
        for _ in 0..<3 {
            // As early as they may.
            let next = machine.next(spacing, .kept, at(0.05))
            machine.take(spacing, .kept, at: next, next)
            turns.append(next)
        }
        turns.sort()
        for (turn, next) in zip(turns, turns.dropFirst()) {
            #expect(turn.duration(to: next) >= .milliseconds(100))
        }
        #expect(turns.last == at(0.8))
    }

    @Test(
        "Turns that are left to kept jobs stay theirs for as long as an upstream holds those back, awake or asleep",
        arguments: [true, false]
    )
    func heldTurns(isAwake: Bool) {
        let spacing = RateSpacing(interval: 100_000_000, burst: 1)
        var machine = RateLimitMachine()
        func request(_ now: Instant) -> Instant {
            let next = machine.next(spacing, .request, now)
            machine.take(spacing, .request, at: next, now)
            return next
        }
        _ = request(at(0))
        machine.wanted(spacing, at(0), until: at(isAwake ? 0 : 5))
        // A line of ten seconds, and every other turn of it.
        let line = (1...50).map { _ in request(at(0)) }
        #expect(line.first == at(0.2) && line.last == at(10))
        if isAwake {
            for tick in 1..<10 {
                machine.wanted(spacing, at(Double(tick) / 2), until: at(Double(tick) / 2))
            }
        }
        #expect(machine.next(spacing, .kept, at(5.1)) == at(5.1))
        machine.take(spacing, .kept, at: at(5.1), at(5.1))
        #expect(machine.next(spacing, .kept, at(5.1)) == at(5.3))
        #expect(request(at(5.1)) == at(10.2))
    }

    @Test("Requests from before a reload have the limit of after it")
    func widened() {
        let narrow = makeTrafficRoute { $0.concurrency.maxRequests = 2 }
        let wide = makeTrafficRoute { $0.concurrency.maxRequests = 100 }
        var machine = RouteTrafficMachine()
        func began() -> Bool {
            let asking = RouteTrafficMachine.Asking(
                kind: .first,
                upstreamIndex: 0,
                isKept: false,
                slot: .none
            )
            if case .go = machine.grant(narrow, asking, at(1)) { return true }
            return false
        }
        #expect([began(), began(), began()] == [true, true, false])
        machine.configured(wide)
        #expect((0..<20).allSatisfy { _ in began() })
    }

    @Test(
        "The end of one attempt of a class leaves the one alone that finds out for it",
        arguments: [false, true]
    )
    func trial(isTrial: Bool) {
        var table = ClassTable()
        let asked = RequestClass(.get, target: "x", contentLength: 0, user: 1)
        table.tries(asked, at(0))
        table.ended(asked, works: nil, isTrial: isTrial, at(0.01))
        #expect(table.pass(asked, at(0.5)) == (isTrial ? .tries : .waits(until: at(0.505))))
    }

    @Test("A hold that lasts longer than its route allows keeps no kept job of another kind")
    func longestHold() {
        let route = makeTrafficRoute { $0.traffic.throttling.longest = .seconds(2) }
        var machine = RouteTrafficMachine()
        let (held, other) = (
            RequestClass(.get, target: "held", contentLength: 0, user: 1),
            RequestClass(.get, target: "other", contentLength: 0, user: 1)
        )
        func leave(_ asked: RequestClass, _ seconds: Double) -> RouteTrafficMachine.Answer {
            let asking = RouteTrafficMachine.Asking(kind: .first, upstreamIndex: 0, isKept: true, slot: .none)
            return machine.grant(route, asking, of: { asked }, at(seconds))
        }
        guard case .go(let first) = leave(held, 1) else {
            Issue.record("held back")
            return
        }
        var word = AttemptFeedback()
        word.hold = HoldTable.RequestedWait(wait: .seconds(3_600))
        _ = machine.ended(first, word, asked: { held }, of: route, random: 1, at(1))
        guard case .held = leave(held, 2.99) else {
            Issue.record("not held back")
            return
        }
        #expect(machine.capacity(route, at(3.01), atMost: 1).count == 1)
        guard case .go = leave(other, 3.01) else {
            Issue.record("held back")
            return
        }
    }

    @Test("A request that is held back and goes elsewhere at once is load, and a retry where it is one")
    func elsewhere() async {
        let memory = RouteMemory()
        let route = makeTrafficRoute {
            $0.recovery = [rule("o", ["breaker_open"], .failover(upstream: 1))]
            $0.traffic.budget.floor = 0
        }
        let retries = Mutex(0)
        let bench = Bench([]) { _ in
            let present = memory.traffic.standing(of: route, Instant(nanoseconds: 0)).retries
            retries.withLock { $0 = present }
            return .answer(200)
        }
        memory.traffic.order(.open, of: "one", route, until: at(1_000), bench.time.now())
        #expect(memory.traffic.tell(route, at(0)) { $0.takeBudget(route, at(0)) } == false)
        for _ in 0..<11 { #expect(await bench.perform(on: route, memory: memory).status == 200) }
        #expect(retries.withLock { $0 } == 0)
        #expect(memory.traffic.tell(route, at(0)) { $0.takeBudget(route, at(0)) } == true)
        memory.traffic.tell(route, at(0)) { $0.giveBackBudget(at(0)) }
        var history = JobHistory()
        history.attempts = 1
        #expect(await bench.deliver(on: route, history, memory: memory).words == "succeeded 200 upstream")
        #expect(retries.withLock { $0 } == 1)
    }

    @Test("A run that is held back wherever it goes has made no attempt")
    func heldEverywhere() async {
        let bench = Bench([]) { _ in .answer(200) }
        let memory = RouteMemory()
        let route = makeTrafficRoute { $0.recovery = [rule("o", ["breaker_open"], .failover(upstream: 1))] }
        for name in ["one", "two"] {
            memory.traffic.order(.open, of: name, route, until: at(60), bench.time.now())
        }
        let run = await bench.deliver(on: route, memory: memory)
        #expect(run.words == "back breaker_open" && run.attempts.isEmpty, "\(run.words)")
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("An attempt that was not sent in time, or was left, says nothing of its upstream")
    func unsent() {
        let late = Failure(.httpResponseTimeout, sent: .neverSent, "")
        #expect(
            AttemptFeedback(late, named: late, BreakerSettings(), nil, wallMilliseconds: 0)
                == AttemptFeedback()
        )
        var left = Failure(.cancelled, sent: .unknown, "")
        left.status = 200
        #expect(
            AttemptFeedback(left, named: left, BreakerSettings(), nil, wallMilliseconds: 0)
                == AttemptFeedback()
        )
        let silent = Failure(.httpResponseTimeout, sent: .unknown, "")
        #expect(
            AttemptFeedback(silent, named: silent, BreakerSettings(), nil, wallMilliseconds: 0).breaker
                == .fails
        )
    }

    @Test("A wish for patience that a reload has cut short hides none that comes later")
    func cutShort() async {
        let bench = Bench([
            .answer(503, [("Retry-After", "50")]), .answer(503, [("Retry-After", "5")]), .answer(200),
        ])
        let memory = RouteMemory()
        _ = await bench.perform(on: makeTrafficRoute(), memory: memory)
        let short = makeTrafficRoute { $0.traffic.throttling.longest = .seconds(10) }
        bench.time.advance(by: .seconds(10))
        #expect(await bench.perform(on: short, memory: memory).status == 503)
        #expect(await bench.perform(on: short, memory: memory).status == 200)
        #expect(bench.time.now() == at(15))
    }
}
