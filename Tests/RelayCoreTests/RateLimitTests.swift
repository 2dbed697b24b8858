import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("Attempts are spaced", .timeLimit(.minutes(1)))
struct RateLimitTests {
    @Test(
        "A burst at once, then one each interval",
        arguments: [(50, 1.0, 100), (1, 1.0, 1), (3, 60.0, 2), (1_000_000, 1.0, 1)]
    )
    func spacing(count: Int, per: Double, burst: Int) {
        let spacing = RateLimitSettings(maxRequests: count, per: .seconds(per), burst: burst).spacing
        var machine = RateLimitMachine()
        #expect(machine.capacity(spacing, at(5), atMost: .max) == burst)
        for _ in 0..<burst {
            #expect(machine.next(spacing, .request, at(5)) == at(5))
            machine.take(spacing, .request, at: at(5), at(5))
        }
        #expect(machine.capacity(spacing, at(5), atMost: .max) == 0)
        let interval = Int64(per * 1e9) / Int64(count)
        for index in 1...3 {
            let next = machine.next(spacing, .request, at(5))
            #expect(next.nanoseconds == at(5).nanoseconds + interval * Int64(index))
            machine.take(spacing, .request, at: next, at(5))
        }
        #expect(machine.capacity(spacing, at(5 + per * Double(burst + 4)), atMost: .max) == burst)
        #expect(machine.capacity(spacing, at(1e6), atMost: 1) == 1)
    }

    /// Turns of a tenth of a second each, for so long: how many requests and how many kept jobs went, where at each moment
    /// `waiting` requests stand in line.
    private func turns(
        seconds: Int,
        waiting: Int,
        keptFrom: Double,
        burst: Int = 1
    ) -> (requests: [Instant], kept: [Instant]) {
        let spacing = RateSpacing(interval: 100_000_000, burst: burst)
        var machine = RateLimitMachine()
        var line: [Instant] = []
        var requests: [Instant] = []
        var kept: [Instant] = []
        for tick in 0..<seconds * 100 {
            let now = at(Double(tick) / 100)
            requests += line.filter { $0 <= now }
            line.removeAll { $0 <= now }
            while line.count < waiting {
                let next = machine.next(spacing, .request, now)
                machine.take(spacing, .request, at: next, now)
                line.append(next)
            }
            guard now >= at(keptFrom) else { continue }
            if machine.capacity(spacing, now, atMost: 1) == 1 {
                machine.take(spacing, .kept, at: now, now)
                kept.append(now)
            } else {
                machine.wanted(spacing, now, until: now)
            }
        }
        return (requests, kept)
    }

    @Test(
        "Requests that stand in line and kept jobs have every other turn, and neither has more than there is"
    )
    func shared() {
        let (requests, kept) = turns(seconds: 60, waiting: 20, keptFrom: 10)
        let late = { (list: [Instant]) in list.count { $0 >= at(20) } }
        #expect((190...210).contains(late(requests)) && (190...210).contains(late(kept)))
        let all = (requests + kept).sorted()
        for (first, eleventh) in zip(all, all.dropFirst(11)) {
            // Eleven intervals, but for what a tick of this test rounds.
            #expect(first.duration(to: eleventh) >= .milliseconds(980))
        }
    }

    @Test(
        "Kept jobs have their turns from the end of the line on, whatever burst there was",
        arguments: [1, 50]
    )
    func soon(burst: Int) throws {
        let (_, kept) = turns(seconds: 30, waiting: 20, keptFrom: 10, burst: burst)
        #expect(try #require(kept.first) <= at(12.2))
        #expect((170...190).contains(kept.count { $0 >= at(12) } * 2))
    }

    @Test("Kept jobs that have no line before them have all turns, and requests without kept jobs too")
    func alone() {
        let (_, kept) = turns(seconds: 20, waiting: 0, keptFrom: 0)
        #expect((195...201).contains(kept.count))
        let (requests, _) = turns(seconds: 20, waiting: 20, keptFrom: 100)
        #expect((195...201).contains(requests.count))
    }

    @Test("A turn that is given back is another's, and only once", arguments: 0..<32)
    func givenBack(mask: Int) {
        let spacing = RateSpacing(interval: 1_000_000_000, burst: 1)
        var machine = RateLimitMachine()
        func take() -> TakenSlot {
            machine.take(spacing, .request, at: machine.next(spacing, .request, at(0)), at(0))
        }
        var turns = (0..<5).map { _ in take() }
        #expect(machine.next(spacing, .request, at(0)) == at(5))
        let left = turns.indices.filter { mask & 1 << $0 != 0 }
        for index in left { machine.giveBack(turns[index], spacing, at(0)) }
        turns = turns.indices.filter { mask & 1 << $0 == 0 }.map { turns[$0] }
        for _ in 0..<4 { turns.append(take()) }
        // Those who are left and those who came after have one turn a second from the first on, whoever gave up.
        let all = turns.map(\.at).sorted()
        #expect(all == (0..<all.count).map { at(Double($0)) })
    }

    @Test("A turn that is given back too late is nobody's")
    func givenBackLate() {
        let spacing = RateSpacing(interval: 1_000_000_000, burst: 1)
        var machine = RateLimitMachine()
        let turns = (0..<4).map { _ in
            machine.take(spacing, .request, at: machine.next(spacing, .request, at(0)), at(0))
        }
        machine.giveBack(turns[1], spacing, at(1.5))
        #expect(machine.next(spacing, .request, at(1.5)) == at(4))
        machine.giveBack(turns[2], spacing, at(1.5))
        #expect(machine.next(spacing, .request, at(1.5)) == at(2))
        // Nobody has taken it when it is over.
        #expect(machine.next(spacing, .request, at(2.5)) == at(4))
    }

    @Test("Turns that were given back and are over are nobody's at another rate either")
    func givenBackBeforeReload() {
        let slow = RateLimitSettings(maxRequests: 10, per: .seconds(1), burst: 1).spacing
        let fast = RateLimitSettings(maxRequests: 11, per: .seconds(1), burst: 1).spacing
        var machine = RateLimitMachine()
        let turns = (0..<200).map { _ in
            machine.take(slow, .request, at: machine.next(slow, .request, at(0)), at(0))
        }
        for turn in turns.prefix(100) { machine.giveBack(turn, slow, at(0)) }
        #expect(machine.next(fast, .request, at(9.95)) >= at(9.95 + 99.0 / 11))
    }

    @Test("Kept jobs have the turns that requests give back, however late they come for them")
    func givenBackToKept() {
        let spacing = RateSpacing(interval: 1_000_000_000, burst: 1)
        var machine = RateLimitMachine()
        let turns = (0..<25).map { _ in
            machine.take(spacing, .request, at: machine.next(spacing, .request, at(0)), at(0))
        }
        for turn in turns[1..<24] { machine.giveBack(turn, spacing, at(0.5)) }
        var went: [Double] = []
        for tick in 5..<240 {
            // Never at the moment of a turn.
            let now = at(Double(tick) / 10 + 0.03)
            if machine.capacity(spacing, now, atMost: 1) == 1 {
                machine.take(spacing, .kept, at: now, now)
                went.append(Double(tick) / 10)
            } else {
                machine.wanted(spacing, now, until: now)
            }
        }
        #expect((11...24).contains(went.count), "\(went)")
        #expect(zip(went, went.dropFirst()).allSatisfy { $1 - $0 > 0.89 }, "\(went)")
    }

    @Test(
        "A burst that was taken is no debt when a reload leaves less of it, and a larger one is not given at once"
    )
    func otherBurst() {
        let wide = RateLimitSettings(maxRequests: 10, per: .seconds(1), burst: 100).spacing
        let narrow = RateLimitSettings(maxRequests: 10, per: .seconds(1), burst: 1).spacing
        var machine = RateLimitMachine()
        for _ in 0..<100 { machine.take(wide, .request, at: at(0), at(0)) }
        #expect(machine.next(narrow, .request, at(0)) <= at(0.1))
        let turns = (0..<5).map { _ in
            machine.take(narrow, .request, at: machine.next(narrow, .request, at(0)), at(0)).at
        }
        #expect(zip(turns, turns.dropFirst()).allSatisfy { $0.duration(to: $1) == .milliseconds(100) })
        #expect(machine.next(wide, .request, at(0)) > at(0.3))
    }

    @Test("A debt from another rate is owed in turns, not in time")
    func otherRate() {
        #expect(RateLimitSettings(maxRequests: 10, per: .seconds(1)).burst == 1, "as the key of a route")
        let slow = RateLimitSettings(maxRequests: 1, per: .seconds(3_600)).spacing
        let fast = RateLimitSettings(maxRequests: 10, per: .seconds(1), burst: 1).spacing
        var machine = RateLimitMachine()
        for _ in 0..<3 { machine.take(slow, .request, at: machine.next(slow, .request, at(0)), at(0)) }
        #expect(machine.next(fast, .request, at(0)) == at(0.3))
        machine.take(fast, .request, at: at(0.3), at(0))
        #expect(machine.next(fast, .request, at(0)) == at(0.4))
    }
}

@Suite("A rate is kept to, whoever gives up", .timeLimit(.minutes(1)))
struct RateKeptTests {
    private struct Line {
        var machine = RateLimitMachine()
        var waiting: [TakenSlot] = []
        private(set) var went: [Instant] = []
        private(set) var kept = 0

        /// Requests whose turn has come go.
        mutating func advance(to now: Instant) {
            went += waiting.filter { $0.at <= now }.map(\.at)
            waiting.removeAll { $0.at <= now }
        }

        mutating func join(_ spacing: RateSpacing, _ now: Instant) {
            let next = machine.next(spacing, .request, now)
            waiting.append(machine.take(spacing, .request, at: next, now))
        }

        mutating func giveUp(_ index: Int, _ spacing: RateSpacing, _ now: Instant) {
            machine.giveBack(waiting.remove(at: index), spacing, now)
        }

        mutating func keptJob(_ spacing: RateSpacing, _ now: Instant) {
            if machine.capacity(spacing, now, atMost: 1) == 1 {
                machine.take(spacing, .kept, at: now, now)
                went.append(now)
                kept += 1
            } else {
                machine.wanted(spacing, now, until: now)
            }
        }
    }

    @Test(
        "However many requests give up beside kept jobs, no more go than the rate says",
        arguments: [1, 5],
        [0.02, 0.1, 0.3, 0.7, 0.95]
    )
    func givingUp(burst: Int, share: Double) {
        let spacing = RateSpacing(interval: 50_000_000, burst: burst)
        var random = SplitMix64(seed: UInt64(burst * 100) + UInt64(share * 100))
        var line = Line()
        for tick in 0..<12_000 {
            let now = at(Double(tick) / 100)
            line.advance(to: now)
            while line.waiting.count < 40 { line.join(spacing, now) }
            if Double.random(in: 0..<1, using: &random) < share, !line.waiting.isEmpty {
                line.giveUp(Int.random(in: 0..<line.waiting.count, using: &random), spacing, now)
            }
            line.keptJob(spacing, now)
        }
        let went = line.went.sorted()
        for width in [20, 100, 400] {
            for (first, last) in zip(went, went.dropFirst(width + burst)) {
                // As many intervals, but for one that a kept job took late and what a tick rounds.
                #expect(first.duration(to: last) >= .milliseconds(50 * (width - 2)))
            }
        }
        // 2,400 turns in all.
        #expect(went.count >= 2_250, "turns are lost")
        #expect(line.kept >= 1_000, "kept jobs have their half")
        #expect(went.count - line.kept >= 1_000, "and so have requests")
    }

    @Test("Each turn is given to one, whatever is given back and whoever takes it", arguments: 1...20)
    func eachOnce(seed: UInt64) {
        let spacing = RateSpacing(interval: 1_000, burst: 1)
        var random = SplitMix64(seed: seed)
        var line = Line()
        for moment in 0..<20_000 {
            let now = Instant(nanoseconds: Int64(moment) * 500)
            line.advance(to: now)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2: if line.waiting.count < 30 { line.join(spacing, now) }
            case 3:
                if !line.waiting.isEmpty {
                    line.giveUp(Int.random(in: 0..<line.waiting.count, using: &random), spacing, now)
                }
            case 4:
                // A burst of callers hangs up.
                while line.waiting.count > 3, moment % 5 == 0 { line.giveUp(0, spacing, now) }
            default: line.keptJob(spacing, now)
            }
        }
        let went = line.went.sorted()
        for (first, last) in zip(went, went.dropFirst(50)) {
            #expect(first.duration(to: last) >= .nanoseconds(48_000))
        }
    }
}
