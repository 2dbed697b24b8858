import RelayTestSupport
import Testing

@testable import RelayCore

/// One second after the other of a route, whose bad requests fail or hang and whose good ones are answered in 10 ms or so.
private struct Road {
    let route = makeTrafficRoute()
    var goodTakes: Duration = .milliseconds(10)
    var machine = RouteTrafficMachine()
    private(set) var underWay: [(leave: TrafficLeave, isGood: Bool, end: Instant, word: AttemptWord)] = []

    let good = RequestClass(.post, target: "good", contentLength: 1, user: 1)
    let bad = RequestClass(.post, target: "bad", contentLength: 1, user: 1)

    static let fine: AttemptWord = {
        var word = AttemptWord()
        (word.breaker, word.window, word.succeeded) = (.works, .fine, true)
        return word
    }()
    static let unavailable: AttemptWord = {
        var word = AttemptWord()
        (word.breaker, word.window, word.succeeded) = (.fails, .tooMuch, false)
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
        _ word: AttemptWord,
        _ now: Instant
    )
        -> TrafficHold?
    {
        var asking = RouteTrafficMachine.Asking(kind: .first, place: 0, isKept: isKept, turn: .none)
        asking.random = random
        let asked = isGood ? good : bad
        switch machine.leave(route, asking, of: { asked }, now) {
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

@Suite("What fails or hangs does not take the places of what is answered", .timeLimit(.minutes(1)))
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

    @Test("An upstream that refuses requests of each kind narrows its window, however many kinds there are")
    func refused() {
        var road = Road()
        let kinds = (0..<20).map { RequestClass(.get, target: "a\($0)x", contentLength: 0, user: 1) }
        for tick in 0..<400 {
            let now = at(Double(tick) / 20)
            guard
                case .go(let leave) = road.machine.leave(
                    road.route,
                    .init(kind: .first, place: 0, isKept: false, turn: .none),
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
        "Behind 300 kept jobs of a path that answers 503 a kept job to another path is sent within a second"
    )
    func line() {
        struct Job {
            var isGood: Bool
            var due: Instant
            var accepted: Instant
        }
        var road = Road()
        var line = (0..<300).map { _ in Job(isGood: false, due: at(0), accepted: at(0)) }
        var chance = SplitMix64(seed: 1)
        var waited: [Duration] = []
        for tick in 0..<12_000 {
            let now = at(Double(tick) / 200)
            road.advance(to: now)
            if tick % 100 == 50 { line.append(Job(isGood: true, due: now, accepted: now)) }
            line.sort { $0.due < $1.due }
            let room = road.machine.room(road.route, now, atMost: road.free(now)).count
            let claimed = line.prefix { $0.due <= now }.prefix(max(0, room))
            line.removeFirst(claimed.count)
            for var job in claimed {
                let random = chance.next()
                let hold = road.send(
                    isGood: job.isGood,
                    isKept: true,
                    random: random,
                    badTakes: .milliseconds(10),
                    Road.unavailable,
                    now
                )
                if let hold {
                    job.due = now.advanced(by: hold.pause ?? .zero)
                    line.append(job)
                } else if job.isGood {
                    waited.append(job.accepted.duration(to: now))
                } else {
                    job.due = now.advanced(by: .seconds(300))
                    line.append(job)
                }
            }
        }
        #expect(waited.count == 120)
        #expect(waited.max() ?? .seconds(99) <= .seconds(1), "\(waited.max().map { "\($0)" } ?? "never")")
    }
}
