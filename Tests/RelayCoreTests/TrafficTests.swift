import RelayJobs
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("A route's requests act together on an upstream", .runQueue, .timeLimit(.minutes(5)))
struct TrafficTests {
    /// An upstream of which the test says from when to when it answers 503; it counts what it is sent.
    private final class Upstream: Sendable {
        private let times = Mutex<[Instant]>([])

        var arrivals: [Instant] { times.withLock { $0 } }

        func bench(answer: @escaping @Sendable (Instant, OutboundRequest) -> ScriptedTransport.Step) -> Bench
        {
            let clock = Mutex<VirtualTime?>(nil)
            let bench = Bench([]) { [self] request in
                let now = clock.withLock { $0 }?.now() ?? Instant(nanoseconds: 0)
                times.withLock { $0.append(now) }
                return answer(now, request)
            }
            clock.withLock { $0 = bench.time }
            return bench
        }
    }

    private func seconds(_ instant: Instant) -> Double { Double(instant.nanoseconds) / 1e9 }

    /// A hundred requests a second for a minute of failures, then for ten seconds of health; one after the other, since
    /// each moves the clock.
    private func outage(
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) async -> (during: Int, after: Double) {
        let upstream = Upstream()
        let bench = upstream.bench { now, _ in Double(now.nanoseconds) < 60e9 ? .answer(502) : .answer(200) }
        let (route, memory) = (
            makeTrafficRoute {
                $0.recovery = [rule("r", ["5xx"], retry(4, wait: .milliseconds(1)))]
                change(&$0)
            }, RouteMemory()
        )
        var good = 0
        var wanted = 0
        while seconds(bench.time.now()) < 90 {
            let outcome = await bench.perform(on: route, memory: memory)
            if seconds(bench.time.now()) >= 80 {
                wanted += 1
                if outcome.status == 200 { good += 1 }
            }
            bench.time.advance(by: .milliseconds(10))
        }
        let during = upstream.arrivals.count { seconds($0) < 60 }
        return (during, Double(good) / Double(wanted))
    }

    @Test("A full outage is met by a probe now and then, and is over for all soon after it ends")
    func fullOutage() async {
        let (during, after) = await outage()
        #expect(during < 60, "\(during) attempts for about 6,000 requests")
        #expect(after == 1)
        // The control: what the rules alone would do.
        let control = await outage {
            $0.traffic.breaker.isEnabled = false
            $0.traffic.budget.isEnabled = false
        }
        #expect(control.during > 3 * 4_000)
    }

    @Test("Without a breaker the retries of an outage are a tenth of what comes")
    func budget() async {
        let (during, _) = await outage {
            $0.traffic.breaker.isEnabled = false
            $0.traffic.budget.floor = 0
        }
        #expect((5_500...6_600).contains(during), "\(during)")
    }

    @Test("An open breaker ends a request as breaker_open, unsent, and rules may act on it")
    func open() async {
        let bench = Bench([]) { _ in .answer(502) }
        let memory = RouteMemory()
        let plain = makeTrafficRoute()
        for _ in 0..<20 { _ = await bench.perform(on: plain, memory: memory) }
        let sent = bench.transport.sent.count
        let failed = await bench.perform(on: plain, memory: memory)
        #expect(failed.failure?.kind == .breakerOpen && failed.failure?.sent == .neverSent)
        #expect(failed.failure?.retryAfter.map { $0 > .zero } == true)
        let answered = await bench.perform(
            on: makeTrafficRoute { $0.recovery = [rule("p", ["breaker_open"], placeholder())] },
            memory: memory
        )
        #expect(answered.source == .placeholder && bench.transport.sent.count == sent)
        let elsewhere = await bench.perform(
            on: makeTrafficRoute { $0.recovery = [rule("o", ["breaker_open"], .failover(upstream: 1))] },
            memory: memory
        )
        #expect(elsewhere.status == 502 && bench.transport.sent.last?.upstream.name == "two")
        let told = bench.sink.events.count { if case .breakerChanged = $0 { true } else { false } }
        #expect(told == 1)
    }

    @Test(
        "A rule that helps against the failures that opened a breaker helps against the breaker",
        arguments: [
            (["5xx"], true), (["504"], true), (["connection"], true), (["timeout"], true), (["404"], false),
            (["dns"], false), (["429"], false), (["exhausted"], false),
        ]
    )
    func likeItsCause(on: [String], helps: Bool) async {
        let bench = Bench([]) { request in request.upstream.name == "two" ? .answer(200) : .answer(502) }
        let memory = RouteMemory()
        for _ in 0..<20 { _ = await bench.perform(on: makeTrafficRoute(), memory: memory) }
        let answered = await bench.perform(
            on: makeTrafficRoute { $0.recovery = [rule("p", on, placeholder())] },
            memory: memory
        )
        #expect((answered.source == .placeholder) == helps)
        let elsewhere = await bench.perform(
            on: makeTrafficRoute { $0.recovery = [rule("o", on, .failover(upstream: 1))] },
            memory: memory
        )
        #expect((elsewhere.status == 200) == helps)
        let sent = bench.transport.sent.count
        let spent = makeTrafficRoute {
            $0.recovery = [rule("r", on, retry(3)), rule("last", ["exhausted"], placeholder())]
        }
        let outcome = await bench.perform(on: spent, memory: memory)
        #expect((outcome.source == .placeholder) == helps && bench.transport.sent.count == sent)
        #expect(outcome.attempts.last?.heldBack == (helps ? [HeldBack(rule: "r", reason: .leftAlone)] : []))
    }

    @Test(
        "A job that is kept waits for the breaker and burns nothing, whatever its rules; a failover takes it elsewhere"
    )
    func kept() async {
        let bench = Bench([]) { request in request.upstream.name == "two" ? .answer(200) : .answer(502) }
        let memory = RouteMemory()
        for _ in 0..<20 { _ = await bench.perform(on: makeTrafficRoute(), memory: memory) }
        let sent = bench.transport.sent.count
        let route = makeTrafficRoute {
            $0.recovery = [rule("any", ["any"], retry(2)), rule("dead", ["any"], .deadLetter)]
        }
        let run = await bench.deliver(on: route, memory: memory)
        #expect(run.words == "back breaker_open" && run.attempts.isEmpty, "\(run.words)")
        #expect(bench.transport.sent.count == sent)
        let other = makeTrafficRoute { $0.recovery = [rule("o", ["breaker_open"], .failover(upstream: 1))] }
        #expect(await bench.deliver(on: other, memory: memory).words == "succeeded 200 upstream")
    }

    @Test(
        "A lack of the relay itself opens no breaker, and neither does what the upstream refuses with reason",
        arguments: [
            .fail(.connectionLimitReached, .neverSent), .answer(404), .answer(401), .answer(429),
            .answer(500),
            .answer(501),
        ] as [ScriptedTransport.Step]
    )
    func notTheirs(step: ScriptedTransport.Step) async {
        let bench = Bench([]) { _ in step }
        let memory = RouteMemory()
        for _ in 0..<60 { _ = await bench.perform(on: makeTrafficRoute(), memory: memory) }
        #expect(bench.transport.sent.count == 60)
    }

    @Test(
        "Retry-After of one answer holds back every other request, and ends one whose time is shorter at once"
    )
    func patience() async {
        let upstream = Upstream()
        let bench = upstream.bench { now, _ in
            now.nanoseconds == 0 ? .answer(503, [("Retry-After", "20")]) : .answer(200)
        }
        let (route, memory) = (makeTrafficRoute(), RouteMemory())
        _ = await bench.perform(on: route, memory: memory)
        var hasty = JobOptions()
        hasty.timeout = .seconds(5)
        let refused = await bench.perform(on: route, options: hasty, memory: memory)
        #expect(
            refused.failure?.kind == .rateLimited && refused.attempts.map(\.failure?.sent) == [.neverSent]
        )
        #expect(bench.time.now() == Instant(nanoseconds: 0))
        let outcome = await bench.perform(on: route, memory: memory)
        #expect(outcome.status == 200 && outcome.attempts.count == 1)
        #expect(upstream.arrivals.map(seconds) == [0, 20])
        let run = await Bench([.answer(429, [("Retry-After", "20")])]).deliver(
            on: route,
            memory: RouteMemory()
        )
        #expect(run.words == "dead exhausted")
    }

    @Test(
        "A job that is kept waits as long as the upstream asks, and an answer may ask that is none to complain about"
    )
    func keptPatience() async {
        let bench = Bench([.answer(200, [("RateLimit", "\"a\";r=0;t=30")]), .answer(200)])
        let (route, memory) = (makeTrafficRoute(), RouteMemory())
        #expect(await bench.deliver(on: route, memory: memory).words == "succeeded 200 upstream")
        let run = await bench.deliver(on: route, memory: memory)
        #expect(
            run.words == "back throttled" && run.hold?.until == Instant(nanoseconds: 30_000_000_000)
        )
    }

    @Test("A rate is kept to by requests that wait for their turn, and one that cannot wait fails")
    func rate() async {
        let upstream = Upstream()
        let bench = upstream.bench { _, _ in .answer(200) }
        let memory = RouteMemory()
        let route = makeTrafficRoute {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 10, per: .seconds(1), burst: 3)
        }
        for _ in 0..<8 { _ = await bench.perform(on: route, memory: memory) }
        #expect(upstream.arrivals.map(seconds) == [0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5])
        var hasty = JobOptions()
        hasty.timeout = .milliseconds(50)
        let refused = await bench.perform(on: route, options: hasty, memory: memory)
        #expect(refused.failure?.kind == .rateLimited && upstream.arrivals.count == 8)
    }

    @Test("A run that has sent something waits for its next turn, and keeps what it has done so far")
    func middleOfRun() async {
        let bench = Bench([.answer(500), .answer(200)])
        let route = makeTrafficRoute {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(1), burst: 1)
            $0.recovery = [rule("o", ["500"], .failover(upstream: 1))]
        }
        let run = await bench.deliver(on: route)
        #expect(run.words == "succeeded 200 upstream" && run.attempts.map(\.upstream) == ["one", "two"])
        #expect(bench.time.now() == Instant(nanoseconds: 1_000_000_000))
    }

    @Test("A hold on the whole route sends no kept job elsewhere, and names no other failure")
    func routeWide() async {
        let bench = Bench([]) { _ in .answer(200) }
        let memory = RouteMemory()
        let route = makeTrafficRoute {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(10), burst: 1)
            $0.recovery = [rule("o", ["any"], .failover(upstream: 1))]
            $0.errorTypes = [ErrorTypeRule(on: nil, apiCodes: [], kind: "mine", treatAsStatus: nil)]
        }
        #expect(await bench.deliver(on: route, memory: memory).words == "succeeded 200 upstream")
        let run = await bench.deliver(on: route, memory: memory)
        #expect(run.words == "back rate_limited" && run.attempts.isEmpty)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("An outage that asks for no patience, or is given none, opens the breaker all the same")
    func impatient() async {
        for (retryAfter, isOn) in [("0", true), ("5", false)] {
            let bench = Bench([]) { _ in .answer(503, [("Retry-After", retryAfter)]) }
            let memory = RouteMemory()
            let route = makeTrafficRoute { $0.traffic.throttling.isEnabled = isOn }
            for _ in 0..<60 { _ = await bench.perform(on: route, memory: memory) }
            #expect(bench.transport.sent.count == 20)
        }
    }

    @Test("A rate with a burst of days is one like any other")
    func longBurst() async {
        let bench = Bench([]) { _ in .answer(200) }
        let route = makeTrafficRoute {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(86_400), burst: 1_000_000)
        }
        let memory = RouteMemory()
        for _ in 0..<50 { _ = await bench.perform(on: route, memory: memory) }
        #expect(bench.transport.sent.count == 50)
    }

    @Test("A request that is cancelled while held back is not sent, and takes no place from others")
    func cancelled() async {
        let bench = Bench([.answer(503, [("Retry-After", "20")]), .answer(200)], mode: .manual)
        let (route, memory) = (makeTrafficRoute(), RouteMemory())
        _ = await bench.perform(on: route, memory: memory)
        let waiting = Task { await bench.perform(on: route, memory: memory) }
        await untilIdle()
        waiting.cancel()
        let outcome = await waiting.value
        #expect(outcome.failure?.kind == .cancelled && outcome.failure?.sent == .neverSent)
        #expect(bench.transport.sent.count == 1)
    }

    @Test(
        "A request whose upstream has asked for patience goes where a rule leads, and waits where none does"
    )
    func patienceElsewhere() async {
        for (rules, expected) in [
            ([rule("o", ["rate_limited"], .failover(upstream: 1))], ["one", "two"]),
            ([rule("o", ["503"], .failover(upstream: 1))], ["one", "two"]),
            ([rule("o", ["404", "connection"], .failover(upstream: 1))], ["one", "one"]),
            // A rule that only waits would not wait as long as the upstream asks.
            ([rule("r", ["rate_limited"], retry(3, wait: .milliseconds(1)))], ["one", "one"]),
        ] {
            let bench = Bench([.answer(503, [("Retry-After", "20")]), .answer(200)])
            let memory = RouteMemory()
            _ = await bench.perform(on: makeTrafficRoute(), memory: memory)
            let outcome = await bench.perform(on: makeTrafficRoute { $0.recovery = rules }, memory: memory)
            #expect(bench.transport.sent.map(\.upstream.name) == expected)
            #expect(outcome.status == 200)
            let waited = bench.time.now().nanoseconds
            #expect(waited == (expected.last == "two" ? 0 : 20_000_000_000))
            if expected.last == "one" {
                #expect(
                    outcome.attempts.map(\.failure?.kind) == [nil] && outcome.attempts[0].heldBack.isEmpty
                )
            }
        }
    }

    @Test(
        "The fields of any answer are read, and Retry-After of a 403 too",
        arguments: [403, 404, 429] as [Status]
    )
    func otherFailures(status: Status) async {
        for fields in [
            [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "20")], [("Retry-After", "20")],
        ] {
            let bench = Bench([.answer(status, fields), .answer(200)])
            let (route, memory) = (makeTrafficRoute(), RouteMemory())
            _ = await bench.perform(on: route, memory: memory)
            _ = await bench.perform(on: route, memory: memory)
            let isHeld = status != 404 || fields.count == 2
            #expect(bench.time.now().nanoseconds == (isHeld ? 20_000_000_000 : 0))
        }
    }

    @Test("An upstream that answers 429 without more is sent less, and nothing fails for it that can wait")
    func tooFast() async {
        let upstream = Upstream()
        let refused = Mutex(0)
        // It takes 20 in a second.
        let bench = upstream.bench { now, _ in
            let recent = upstream.arrivals.count { now.nanoseconds - $0.nanoseconds < 1_000_000_000 }
            guard recent > 20 else { return .answer(200) }
            refused.withLock { $0 += 1 }
            return .answer(429)
        }
        let (route, memory) = (makeTrafficRoute(), RouteMemory())
        while seconds(bench.time.now()) < 60 {
            _ = await bench.perform(on: route, memory: memory)
            bench.time.advance(by: .milliseconds(10))
        }
        let (all, late) = (upstream.arrivals.count, upstream.arrivals.count { seconds($0) > 30 })
        #expect((420...620).contains(late), "\(late) in the second half, \(all) in all")
        #expect(refused.withLock { $0 } < all / 10)
    }

    @Test(
        "Each has a turn of its own or is told at once, whether or not a rule would lead elsewhere",
        arguments: [false, true]
    )
    func turnsBesideFailover(leads: Bool) async {
        let bench = Bench([], mode: .manual) { _ in .answer(200) }
        let route = makeTrafficRoute {
            $0.timeouts.total = .milliseconds(300)
            if leads { $0.recovery = [rule("o", ["rate_limited"], .failover(upstream: 1))] }
        }
        let memory = RouteMemory()
        // Both upstreams have said that four at once are too many: from now on it is 14 a second.
        let refusal = Failure(.httpStatus, sent: .answered, "429", status: 429)
        let word = AttemptFeedback(refusal, named: refusal, BreakerSettings(), nil, wallMilliseconds: 0)
        let now = bench.time.now()
        for place in 0...1 {
            let asking = RouteTrafficMachine.Asking(
                kind: .another,
                upstreamIndex: place,
                isKept: false,
                slot: .none
            )
            let leaves = (0..<4).map { _ in memory.traffic.grant(route, asking, now) }
            for case .go(let leave) in leaves {
                _ = memory.traffic.ended(leave, word, of: route, random: 0, now)
            }
        }
        let tasks = (0..<20).map { _ in Task { await bench.perform(on: route, memory: memory) } }
        await untilIdle()
        let before = bench.sink.events.count { if case .ended = $0 { true } else { false } }
        // One goes, and each upstream has four or five turns within that time.
        #expect((8...16).contains(before), "\(before)")
        for _ in 0..<40 {
            bench.time.advance(by: .milliseconds(10))
            await untilIdle()
        }
        var good = 0
        for task in tasks where await task.value.status == 200 { good += 1 }
        #expect(good >= 20 - before, "whoever was not refused at once has had its turn")
    }

    @Test("Retries that are decided on together take no more than there is of the budget")
    func budgetTogether() async {
        let bench = Bench([], mode: .manual) { _ in .answer(502) }
        let route = makeTrafficRoute {
            $0.traffic.breaker.isEnabled = false
            $0.recovery = [rule("r", ["5xx"], retry(4, wait: .seconds(1)))]
        }
        let memory = RouteMemory()
        let tasks = (0..<50).map { _ in Task { await bench.perform(on: route, memory: memory) } }
        await untilIdle()
        // Ten percent of 50, or the floor of three, are nothing to argue about.
        #expect(memory.traffic.standing(of: route, bench.time.now()).retries <= 5)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
        #expect(memory.traffic.standing(of: route, bench.time.now()).retries == 0)
    }

    @Test("However many probes failed, the window begins after an outage where it is said to")
    func afterOutage() async {
        let upstream = Upstream()
        let bench = upstream.bench { now, _ in
            Double(now.nanoseconds) < 60e9 ? .fail(.connectionTerminated, .unknown) : .answer(200)
        }
        let (route, memory) = (makeTrafficRoute(), RouteMemory())
        while seconds(bench.time.now()) < 80 {
            _ = await bench.perform(on: route, memory: memory)
            bench.time.advance(by: .milliseconds(100))
            let standing = memory.traffic.standing(of: route, bench.time.now()).upstreams[0]
            if seconds(bench.time.now()) > 60, standing.breaker == .closed {
                #expect(standing.window == 10)
                return
            }
        }
        Issue.record("the breaker stays open")
    }

    @Test("Callers with less time than the upstream needs say nothing of it, until it is known not to answer")
    func impatientCallers() async {
        let patience = Mutex(Duration.milliseconds(20))
        let time = Mutex<VirtualTime?>(nil)
        let bench = Bench([]) { request in
            let hasTime = request.deadline > time.withLock { $0! }.now().advanced(by: .milliseconds(100))
            guard hasTime else {
                time.withLock { $0! }.advance(by: patience.withLock { $0 })
                return .fail(.httpResponseTimeout, .unknown)
            }
            time.withLock { $0! }.advance(by: .milliseconds(100))
            return .answer(200)
        }
        time.withLock { $0 = bench.time }
        let (route, memory) = (makeTrafficRoute(), RouteMemory())
        for _ in 0..<10 { _ = await bench.perform(on: route, memory: memory) }
        var hasty = JobOptions()
        hasty.attemptTimeout = .milliseconds(20)
        for _ in 0..<50 { _ = await bench.perform(on: route, options: hasty, memory: memory) }
        #expect(memory.traffic.standing(of: route, bench.time.now()).upstreams[0].breaker == .closed)
        // Where nothing is known of the upstream either.
        let other = RouteMemory()
        for _ in 0..<50 { _ = await bench.perform(on: route, options: hasty, memory: other) }
        #expect(other.traffic.standing(of: route, bench.time.now()).upstreams[0].breaker == .closed)
        patience.withLock { $0 = .seconds(3) }
        for _ in 0..<50 { _ = await bench.perform(on: route, options: hasty, memory: other) }
        #expect(other.traffic.standing(of: route, bench.time.now()).upstreams[0].breaker == .open)
    }

    @Test("A rule that knows the failure by the route's own name for it helps against the breaker too")
    func ownNames() async {
        let bench = Bench([]) { _ in .answer(502) }
        let memory = RouteMemory()
        let route = makeTrafficRoute {
            $0.errorTypes = [
                ErrorTypeRule(
                    on: FailureMatcher([FailureMatcher.token("502")!]),
                    apiCodes: [],
                    kind: "maintenance",
                    treatAsStatus: nil
                )
            ]
            $0.recovery = [rule("p", ["maintenance"], placeholder())]
        }
        for _ in 0..<30 {
            #expect(await bench.perform(on: route, memory: memory).source == .placeholder)
        }
        #expect(bench.transport.sent.count == 20)
    }

    @Test(
        "A request that may have an answer at once does not wait for an upstream's patience, and a kept job does"
    )
    func answersAtOnce() async {
        let bench = Bench([.answer(429, [("Retry-After", "20")]), .answer(200)])
        let memory = RouteMemory()
        let route = makeTrafficRoute { $0.recovery = [rule("p", ["429"], placeholder())] }
        for _ in 0..<3 { #expect(await bench.perform(on: route, memory: memory).source == .placeholder) }
        #expect(bench.time.now() == Instant(nanoseconds: 0) && bench.transport.sent.count == 1)
        #expect(await bench.deliver(on: route, memory: memory).words == "back throttled")
    }

    @Test("A turn that would leave no time for an answer is nobody's")
    func tooLate() async {
        let time = Mutex<VirtualTime?>(nil)
        let bench = Bench([]) { _ in
            time.withLock { $0! }.advance(by: .seconds(1))
            return .answer(200)
        }
        time.withLock { $0 = bench.time }
        let memory = RouteMemory()
        let route = makeTrafficRoute {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 1, per: .seconds(10), burst: 1)
        }
        _ = await bench.perform(on: route, memory: memory)
        var hasty = JobOptions()
        hasty.timeout = .seconds(10)
        // Its turn comes in 9 s, and an answer takes one.
        let refused = await bench.perform(on: route, options: hasty, memory: memory)
        #expect(refused.failure?.kind == .rateLimited && bench.transport.sent.count == 1)
        hasty.timeout = .seconds(12)
        #expect(await bench.perform(on: route, options: hasty, memory: memory).status == 200)
    }
}
