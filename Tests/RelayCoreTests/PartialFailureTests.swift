import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayJobs

/// One second after the other of a route, whose bad requests fail or hang and whose good ones are answered in 10 ms or so.
private struct Road {
    let route = makeTrafficRoute()
    var goodTakes: Duration = .milliseconds(10)
    var machine = RouteTrafficMachine()
    private(set) var underWay: [(leave: AttemptGrant, isGood: Bool, end: Instant, word: AttemptFeedback)] = []

    let good = RequestClass(.post, target: "good", contentLength: 1, user: 1)
    let bad = RequestClass(.post, target: "bad", contentLength: 1, user: 1)

    static let fine: AttemptFeedback = {
        var word = AttemptFeedback()
        (word.breaker, word.window, word.succeeded) = (.works, .fine, true)
        return word
    }()
    static let unavailable: AttemptFeedback = {
        var word = AttemptFeedback()
        (word.breaker, word.window, word.succeeded) = (.fails, .tooMuch, false)
        return word
    }()

    static let patient: AttemptFeedback = {
        var word = AttemptFeedback()
        (word.hold, word.succeeded) = (HoldTable.RequestedWait(wait: .seconds(3_600)), false)
        return word
    }()

    var window: Int { machine.upstreams[0].window.size }

    func free(_ now: Instant) -> Int { min(256, machine.width(of: route, now)) - underWay.count }

    /// Sends one; the hold where it does not go.
    mutating func send(
        isGood: Bool,
        isKept: Bool,
        random: UInt64 = 0,
        badTakes: Duration,
        _ word: AttemptFeedback,
        _ now: Instant
    )
        -> AttemptDeferral?
    {
        var asking = RouteTrafficMachine.Asking(kind: .first, upstreamIndex: 0, isKept: isKept, slot: .none)
        asking.random = random
        let asked = isGood ? good : bad
        switch machine.grant(route, asking, of: { asked }, now) {
        case .held(let hold, _): return hold
        case .go(let leave):
            let end = now.advanced(by: isGood ? goodTakes : badTakes)
            underWay.append((leave, isGood, end, isGood ? Road.fine : word))
            return nil
        }
    }

    /// Those end whose time has come.
    mutating func advance(to now: Instant) {
        let over = underWay.filter { $0.end <= now }
        underWay.removeAll { $0.end <= now }
        for one in over {
            if machine.endedWell(one.leave, one.word, of: route, now) { continue }
            let asked = one.isGood ? good : bad
            _ = machine.ended(one.leave, one.word, asked: { asked }, of: route, random: 1 << 40, now)
        }
    }
}

@Suite(
    "Requests that fail or hang do not take the places of those that are answered",
    .timeLimit(.minutes(1))
)
struct PartialFailureTests {
    @Test(
        "Of 100 requests a second 80 hang for ten seconds each, and each of the others goes at once for a minute"
    )
    func hanging() {
        var road = Road()
        var refused: [Double] = []
        for tick in 0..<6_000 {
            let now = at(Double(tick) / 100)
            road.advance(to: now)
            let isGood = tick % 5 == 0
            let hold = road.send(isGood: isGood, isKept: false, badTakes: .seconds(10), .unanswered, now)
            if isGood, hold != nil { refused.append(Double(tick) / 100) }
        }
        #expect(refused.first == nil, "and \(refused.count) in all")
        #expect(road.window >= 128, "what hangs says nothing of how many the upstream takes")
    }

    @Test(
        "Beside a path that is refused as too much answers that take half a second each have what they need under way",
        arguments: [45, 60, 80]
    )
    func slow(share: Int) {
        var road = Road(goodTakes: .milliseconds(500))
        var held: [Double] = []
        for tick in 0..<6_000 {
            let now = at(Double(tick) / 100)
            road.advance(to: now)
            let isGood = (tick + 1) * share / 100 == tick * share / 100
            let hold = road.send(
                isGood: isGood,
                isKept: false,
                badTakes: .milliseconds(10),
                Road.unavailable,
                now
            )
            // Before the first answer nothing is known of either, and what was narrowed till then has to grow again.
            if isGood, tick > 1_000, hold != nil { held.append(Double(tick) / 100) }
        }
        #expect(held.first == nil, "and \(held.count) in all")
    }

    @Test("Beside a path that is refused now and then others are passed through, and their answers heard of")
    func passedThrough() {
        let (route, traffic) = (makeTrafficRoute(), RouteMemory().traffic)
        let (good, bad) = (Road().good, Road().bad)
        var asked = 0
        for tick in 0..<100 {
            let now = at(Double(tick) / 10)
            guard let leave = traffic.grantPlainly(route, now.nanoseconds) else {
                Issue.record("it is not passed through")
                return
            }
            guard tick % 10 == 0 else {
                let change = traffic.endedPlainly(
                    leave,
                    asked: {
                        asked += 1
                        return good
                    },
                    of: route,
                    random: 1,
                    now.nanoseconds
                )
                #expect(change == nil)
                continue
            }
            _ = traffic.ended(leave, Road.unavailable, asked: { bad }, of: route, random: 1, now)
        }
        #expect((50...80).contains(asked), "of \(asked) answers it was asked what they were")
    }

    @Test("An upstream that refuses requests of each kind narrows its window, however many kinds there are")
    func refused() {
        var road = Road()
        let kinds = (0..<20).map { RequestClass(.get, target: "a\($0)x", contentLength: 0, user: 1) }
        for tick in 0..<400 {
            let now = at(Double(tick) / 20)
            guard
                case .go(let leave) = road.machine.grant(
                    road.route,
                    .init(kind: .first, upstreamIndex: 0, isKept: false, slot: .none),
                    of: { kinds[tick % 20] },
                    now
                )
            else { continue }
            let word = tick % 3 == 0 ? Road.fine : Road.unavailable
            let later = now.advanced(by: .milliseconds(1))
            if road.machine.endedWell(leave, word, of: road.route, later) { continue }
            _ = road.machine.ended(
                leave,
                word,
                asked: { kinds[tick % 20] },
                of: road.route,
                random: 1 << 40,
                later
            )
        }
        #expect(road.window < 10)
    }

    @Test(
        "A kept job that is refused beside others that are answered comes back in moments at no cost, four times",
        arguments: 0...5,
        [0, 9]
    )
    func spared(before: Int, others: Int) async {
        let (route, memory) = (makeRoute { $0.deliversLater = true }, RouteMemory())
        let bench = Bench([.answer(503)])
        func begin() -> AttemptGrant? {
            let asking = RouteTrafficMachine.Asking(
                kind: .first,
                upstreamIndex: 0,
                isKept: false,
                slot: .none
            )
            guard case .go(let leave) = memory.traffic.grant(route, asking, bench.time.now()) else {
                return nil
            }
            return leave
        }
        // Others are answered, and one more is under way.
        for _ in 0..<20 {
            guard let leave = begin() else { break }
            _ = memory.traffic.ended(leave, Road.fine, of: route, random: 1, bench.time.now())
        }
        #expect(begin() != nil)
        var history = JobHistory()
        for number in 0..<before + others {
            var attempt = Attempt(number: number + 1, upstream: "u1", beganAt: 0)
            if number < before {
                attempt.failure = Failure(.httpStatus, sent: .refused, "", status: 503)
                attempt.failure?.blamed = .tooMany
            } else {
                // Questions, and what never left, are no refusals.
                attempt.lookUp = number % 2 == 0 ? .unclear : nil
                attempt.failure = Failure(.connectionRefused, sent: .neverSent, "")
            }
            history.count(attempt)
        }
        history.attempts = before + others
        let run = await bench.deliver(on: route, history, memory: memory)
        guard case .retry(let wait, _) = run.ending else {
            Issue.record("\(run.words)")
            return
        }
        let isSpared = before < 4
        #expect(run.attempts.map(\.isSpent) == [!isSpared])
        #expect(
            (isSpared ? .zero ... .milliseconds(250 << before) : .seconds(4) ... .seconds(6)).contains(wait)
        )
    }

    @Test(
        "A refusal says that it was one too many only beside others that are answered, of which some are of its kind"
    )
    func tooMany() {
        var road = Road()
        var seconds = 1.0
        func begin(_ asked: RequestClass) -> AttemptGrant? {
            seconds += 0.001
            let asking = RouteTrafficMachine.Asking(kind: .first, upstreamIndex: 0, isKept: true, slot: .none)
            guard case .go(let leave) = road.machine.grant(road.route, asking, of: { asked }, at(seconds))
            else {
                Issue.record("held back")
                return nil
            }
            return leave
        }
        func end(_ leave: AttemptGrant?, _ word: AttemptFeedback, _ asked: RequestClass) -> FailureCause? {
            leave.flatMap {
                road.machine.ended($0, word, asked: { asked }, of: road.route, random: 1, at(seconds)).blamed
            }
        }
        func refused(isAlone: Bool = false, answered: Int) -> FailureCause? {
            for _ in 0..<answered { _ = end(begin(road.good), Road.fine, road.good) }
            let other = isAlone ? nil : begin(road.good)
            defer { _ = end(other, AttemptFeedback(), road.good) }
            return end(begin(road.bad), Road.unavailable, road.bad)
        }
        #expect(refused(answered: 5) == nil, "too little has ended")
        #expect(refused(isAlone: true, answered: 20) == nil, "nothing was under way beside it")
        let causes = (0..<20).map { _ in refused(answered: 20) }
        #expect(causes.prefix(8).allSatisfy { $0 == .tooMany })
        #expect(causes.suffix(10).allSatisfy { $0 == nil }, "nothing of its kind is answered")
    }

    @Test(
        "Behind kept jobs of a path that answers 503, or asks for patience, a kept job to another path is sent soon, however many they are",
        arguments: [(300, 2.0, false), (3_600, 7.0, false), (9_000, 16.0, false), (3_600, 4.0, true)],
        [0.25, 5.25]
    )
    func line(_ world: (bad: Int, longest: Double, isHeld: Bool), from first: Double) {
        let (bad, longest, isHeld) = world
        struct Job {
            var isGood: Bool
            var due: Instant
            var accepted: Instant
        }
        var road = Road()
        var line = (0..<bad).map { _ in Job(isGood: false, due: at(0), accepted: at(0)) }
        var chance = SplitMix64(seed: 1)
        var waited: [Duration] = []
        for tick in 0..<12_000 {
            let now = at(Double(tick) / 200)
            road.advance(to: now)
            if tick % 100 == 50, now >= at(first) { line.append(Job(isGood: true, due: now, accepted: now)) }
            if tick % 10 == 0 { line.sort { $0.due < $1.due } }
            let room = road.machine.capacity(road.route, now, atMost: road.free(now)).count
            let claimed = line.prefix { $0.due <= now }.prefix(max(0, room))
            line.removeFirst(claimed.count)
            for var job in claimed {
                let random = chance.next()
                let hold = road.send(
                    isGood: job.isGood,
                    isKept: true,
                    random: random,
                    badTakes: .milliseconds(10),
                    isHeld ? Road.patient : Road.unavailable,
                    now
                )
                if let hold {
                    // Without a pause it keeps its place.
                    if let pause = hold.pause { job.due = now.advanced(by: pause) }
                    line.append(job)
                } else if job.isGood {
                    waited.append(job.accepted.duration(to: now))
                } else {
                    job.due = now.advanced(by: .seconds(300))
                    line.append(job)
                }
            }
        }
        #expect(waited.count == (first < 1 ? 120 : 110))
        #expect(
            waited.max() ?? .seconds(99) <= .seconds(longest),
            "\(waited.max().map { "\($0)" } ?? "never")"
        )
        // Once those before it have been looked at.
        #expect(waited.suffix(60).max() ?? .seconds(99) <= .seconds(1))
    }

    @Test("One failure of requests that are answered beside an open circuit breaker does not stop them")
    func lonelyFailure() {
        var road = Road()
        var refused = 0
        for tick in 0..<12_000 {
            let now = at(Double(tick) / 100)
            road.advance(to: now)
            if tick % 50 == 0 {
                _ = road.send(isGood: false, isKept: false, badTakes: .milliseconds(1), Road.unavailable, now)
            }
            guard tick > 2_000, tick % 5 == 0 else { continue }
            guard tick % 3_000 == 0 else {
                if road.send(isGood: true, isKept: false, badTakes: .zero, Road.unavailable, now) != nil {
                    refused += 1
                }
                continue
            }
            let asking = RouteTrafficMachine.Asking(
                kind: .first,
                upstreamIndex: 0,
                isKept: false,
                slot: .none
            )
            let good = road.good
            if case .go(let leave) = road.machine.grant(road.route, asking, of: { good }, now) {
                _ = road.machine.ended(
                    leave,
                    Road.unavailable,
                    asked: { good },
                    of: road.route,
                    random: 1,
                    now
                )
            }
        }
        #expect(road.machine.upstreams[0].breaker.state != .closed, "the bad ones keep it open")
        #expect(refused <= 20, "of 2,000")
    }

    @Test("A circuit breaker is probed by what fails as long as it comes, and then by what is answered")
    func probes() throws {
        var road = Road()
        func send(_ isGood: Bool, _ seconds: Double) -> AttemptDeferral? {
            road.advance(to: at(seconds))
            return road.send(
                isGood: isGood,
                isKept: false,
                badTakes: .milliseconds(1),
                Road.unavailable,
                at(seconds)
            )
        }
        var seconds = 0.0
        _ = send(false, seconds)
        while road.machine.upstreams[0].breaker.state == .closed, seconds < 10 {
            seconds += 0.01
            _ = send(false, seconds)
        }
        // It finds out for its class, and is answered.
        #expect(send(true, seconds) == nil)
        guard case .open(let due, _) = road.machine.upstreams[0].breaker.state else {
            Issue.record("not open")
            return
        }
        let probe = Double(due.nanoseconds) / 1e9
        for wait in [0.02, 0.5, 0.9] {
            #expect(send(true, probe + wait) == nil)
            #expect(
                road.machine.upstreams[0].breaker.state != .closed,
                "an answer of another class is no probe"
            )
        }
        #expect(send(true, probe + 1.1) == nil)
        road.advance(to: at(probe + 2))
        #expect(road.machine.upstreams[0].breaker.state == .closed, "nothing that fails came for a second")
    }
}
