import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

@Suite("A route's retries are a share of its load", .timeLimit(.minutes(1)))
struct RetryBudgetTests {
    /// Requests a second for ten seconds, each retried as long as there is room; how many retries there were.
    private func retries(_ rate: Int, succeeded: Bool?, _ settings: RetryBudgetSettings = .init()) -> Int {
        var machine = RetryBudgetMachine()
        var count = 0
        for index in 0..<rate * 10 {
            let now = at(Double(index) / Double(rate))
            machine.began(now)
            for _ in 0..<3 where machine.hasCapacity(settings, now) {
                machine.retryBegan()
                count += 1
                machine.retryEnded(succeeded: succeeded, now)
            }
        }
        return count
    }

    @Test("While every retry fails they are a tenth, and where they succeed nothing holds them back")
    func share() {
        var settings = RetryBudgetSettings()
        settings.floor = 0
        #expect((95...100).contains(retries(100, succeeded: false, settings)))
        #expect(retries(100, succeeded: true, settings) > 2_900)
        settings.isEnabled = false
        #expect(retries(100, succeeded: false, settings) == 3_000)
    }

    @Test("It tells how many more may begin", arguments: [0, 9, 10, 11, 55, 300], [0, 2, 5])
    func left(requests: Int, failed: Int) {
        let settings = RetryBudgetSettings()
        var machine = RetryBudgetMachine()
        for _ in 0..<requests { machine.began(at(0)) }
        for _ in 0..<failed {
            machine.retryBegan()
            machine.retryEnded(succeeded: false, at(0))
        }
        let left = machine.left(settings, at(1))
        var begun = 0
        while machine.hasCapacity(settings, at(1)) {
            machine.retryBegan()
            begun += 1
        }
        #expect(left == begun && machine.left(settings, at(1)) == 0)
        #expect(machine.left(settings, at(60)) == 0)
        var off = settings
        off.isEnabled = false
        #expect(machine.left(off, at(1)) == nil)
    }

    @Test("As many as the floor may be under way however small the load is, and no more")
    func floor() {
        let settings = RetryBudgetSettings()
        var machine = RetryBudgetMachine()
        for _ in 0..<3 {
            #expect(machine.hasCapacity(settings, at(0)) == true)
            machine.retryBegan()
        }
        #expect(machine.hasCapacity(settings, at(0)) == false)
        machine.retryEnded(succeeded: nil, at(1))
        #expect(machine.hasCapacity(settings, at(1)) == true)
    }

    @Test("A retry that failed is forgotten after ten seconds")
    func memory() {
        var settings = RetryBudgetSettings()
        (settings.percent, settings.floor) = (50, 0)
        var machine = RetryBudgetMachine()
        for _ in 0..<2 { machine.began(at(0.5)) }
        machine.retryBegan()
        machine.retryEnded(succeeded: false, at(0.6))
        machine.began(at(9.5))
        #expect(machine.hasCapacity(settings, at(9.6)) == true)
        machine.retryBegan()
        #expect(machine.hasCapacity(settings, at(9.6)) == false)
        machine.retryEnded(succeeded: false, at(9.7))
        for _ in 0..<4 { machine.began(at(11)) }
        #expect(machine.hasCapacity(settings, at(11.1)) == true)
    }
}

@Suite("An upstream that says that requests come too fast is sent less", .timeLimit(.minutes(1)))
struct PaceTests {
    /// Requests as fast as they may come but for 1,000 a second, with an upstream that takes `limit` a second and refuses
    /// the rest: how many were taken and refused in the last ten of so many seconds.
    private func outcome(limit: Int, seconds: Int, isOn: Bool = true) -> (taken: Int, refused: Int) {
        var (pace, turns) = (PaceMachine(), RateLimitMachine())
        var (taken, refused, second, inSecond) = (0, 0, -1, 0)
        for tick in 0..<seconds * 1_000 {
            let now = at(Double(tick) / 1_000)
            if isOn, let spacing = pace.spacing(now) {
                guard turns.capacity(spacing, now, atMost: 1) == 1 else { continue }
                turns.take(spacing, .request, at: now, now)
            }
            pace.began(now)
            if tick / 1_000 > second { (second, inSecond) = (tick / 1_000, 0) }
            inSecond += 1
            if inSecond > limit { pace.refused(began: now, now) } else { pace.took(now) }
            guard tick >= (seconds - 10) * 1_000 else { continue }
            if inSecond > limit { refused += 1 } else { taken += 1 }
        }
        return (taken, refused)
    }

    @Test("It settles near what the upstream takes, with few refusals", arguments: [10, 100, 400])
    func settles(limit: Int) {
        let (taken, refused) = outcome(limit: limit, seconds: 60)
        #expect(taken >= limit * 7, "\(taken) of \(limit * 10)")
        #expect(refused * 10 <= taken, "\(refused) refused, \(taken) taken")
        // The control: whoever does not listen is refused most of the time.
        #expect(outcome(limit: limit, seconds: 60, isOn: false).refused > limit * 10)
    }

    @Test("A minute without a refusal ends it, and one that is not used holds nothing back")
    func ends() {
        var pace = PaceMachine()
        #expect(pace.spacing(at(0)) == nil)
        for index in 0..<100 { pace.began(at(Double(index) / 100)) }
        pace.refused(began: at(0.99), at(1))
        #expect(pace.rate(at(1)).map { (60...80).contains($0) } == true)
        let before = pace.rate(at(1))
        // The refusal of a request that was under way with it says the same, and so does one within a second.
        pace.refused(began: at(0.5), at(1.1))
        pace.refused(began: at(1.9), at(1.95))
        #expect(pace.rate(at(1)) == before)
        #expect(pace.rate(at(2)).map { $0 > before! } == true)
        #expect(pace.spacing(at(61)) == nil)
    }

    @Test("Kept jobs are sent as fast as it may be, however often they ask for a turn", arguments: [10, 70])
    func kept(rate: Int) throws {
        var (pace, turns) = (PaceMachine(), RateLimitMachine())
        for index in 0...rate * 2 { pace.began(at(Double(index) / Double(rate))) }
        pace.refused(began: at(2), at(2))
        var went = 0
        for tick in 2_000..<12_000 {
            let now = at(Double(tick) / 1_000)
            let spacing = try #require(pace.spacing(now))
            if turns.capacity(spacing, now, atMost: 1) == 1 {
                turns.take(spacing, .kept, at: now, now)
                pace.began(now)
                pace.took(now)
                went += 1
            } else {
                turns.wanted(spacing, now, until: now)
            }
        }
        // Seven tenths of the rate, and a twentieth more each second.
        #expect(Double(went) > Double(rate) * 0.7 * 10 * 0.9, "\(went)")
        #expect(Double(went) < Double(rate) * (0.7 + 0.05 * 10) * 10, "\(went)")
    }

    @Test("The first refusal after a silence takes seven tenths of what is sent then, and no more")
    func silence() {
        var pace = PaceMachine()
        for index in 0..<100 { pace.began(at(Double(index) / 100)) }
        pace.refused(began: at(0.99), at(1))
        for index in 0..<20 { pace.began(at(100 + Double(index) / 100)) }
        pace.refused(began: at(100.19), at(100.2))
        #expect(pace.rate(at(100.2)).map { (50...80).contains($0) } == true)
    }
}

@Suite("Attempts that take longer than they did are noticed", .timeLimit(.minutes(1)))
struct LatencyTests {
    /// Windowfuls of 20 attempts that take so many milliseconds; which of them were slow.
    private func slow(_ means: [Double], wasFull: Bool = true) -> [Int] {
        var machine = LatencyMachine()
        return means.indices.filter { index in
            var isSlow = false
            for attempt in 0..<20 {
                let milliseconds = means[index] + (attempt.isMultiple(of: 2) ? 1 : -1)
                if machine.ended(nanoseconds: Int64(milliseconds * 1e6), wasFull: wasFull, cohort: 20) {
                    isSlow = true
                }
            }
            return isSlow
        }
    }

    @Test("A windowful that takes half as long again, and far more than they differ, is slow")
    func found() {
        #expect(slow([20, 21, 19, 20, 29]) == [])
        #expect(slow([20, 21, 19, 20, 32]) == [4])
        #expect(slow([20, 200, 20, 200, 20, 200, 300]) == [1])
        #expect(slow([20, 21, 19, 20, 60], wasFull: false) == [])
    }

    @Test("A window shrinks by it, and never below where it begins after an outage")
    func window() {
        var machine = WindowMachine(WindowSettings(), limit: 64)
        var moment = 0.0
        func windowful(_ seconds: Double) {
            for _ in 0..<machine.size {
                machine.ended(.fine, began: at(moment), wasFull: true, at(moment + seconds))
            }
            moment += seconds
        }
        for _ in 0..<5 { windowful(0.02) }
        #expect(machine.size == 64)
        windowful(0.1)
        #expect(machine.size == 57)
        for round in 0..<60 { windowful(round.isMultiple(of: 4) ? 10 * Double(round + 1) : 0.02) }
        #expect(machine.size >= 10)
    }
}

@Suite("The window goes by how the upstream takes what it is sent", .timeLimit(.minutes(1)))
struct WindowTests {
    private let settings = WindowSettings()

    /// Rounds of as many attempts as the window has, with an upstream that refuses what is above `capacity`.
    private func sizes(_ rounds: Int, from initial: Int? = nil, capacity: Int, limit: Int = 256) -> [Int] {
        var settings = settings
        settings.initial = initial
        var machine = WindowMachine(settings, limit: limit)
        return (0..<rounds).map { round in
            let (began, ended) = (at(Double(round)), at(Double(round) + 0.5))
            let count = machine.size
            for index in 0..<count {
                let word: WindowMachine.Signal = index < capacity ? .fine : .tooMuch
                machine.ended(word, began: began, wasFull: true, ended)
            }
            return machine.size
        }
    }

    @Test("It begins with all there is and stays there while all is well")
    func open() {
        #expect(sizes(5, capacity: .max) == [256, 256, 256, 256, 256])
        #expect(sizes(3, from: 4, capacity: .max) == [4, 5, 6])
    }

    @Test("It settles within a fifth of what the upstream takes, and refusals are few from there")
    func settles() {
        let sizes = sizes(60, capacity: 50)
        #expect(sizes.dropFirst(15).allSatisfy { (40...60).contains($0) }, "\(sizes)")
    }

    @Test("It shrinks once for what was under way together, to half when nothing comes back")
    func once() {
        var machine = WindowMachine(settings, limit: 100)
        for _ in 0..<50 { machine.ended(.lost, began: at(0), wasFull: true, at(1)) }
        #expect(machine.size == 50)
        machine.ended(.lost, began: at(2), wasFull: true, at(3))
        #expect(machine.size == 25)
        for round in 3..<20 {
            machine.ended(.lost, began: at(Double(round)), wasFull: true, at(Double(round)))
        }
        #expect(machine.size == 1)
    }

    @Test("It grows only when it was full, and never above the limit")
    func full() {
        var settings = settings
        settings.initial = 10
        var machine = WindowMachine(settings, limit: 12)
        for _ in 0..<1_000 { machine.ended(.fine, began: at(0), wasFull: false, at(1)) }
        #expect(machine.size == 10)
        for _ in 0..<1_000 { machine.ended(.fine, began: at(0), wasFull: true, at(1)) }
        #expect(machine.size == 12)
    }

    @Test(
        "All that the route allows is so again when a reload allows more or less, and a part of it stays that"
    )
    func reloaded() {
        var machine = WindowMachine(settings, limit: 10)
        machine.configured(limit: 100)
        #expect(machine.size == 100)
        machine.ended(.tooMuch, began: at(2), wasFull: false, at(3))
        machine.configured(limit: 1_000)
        #expect(machine.size == 50)
        machine.configured(limit: 20)
        #expect(machine.size == 20)
        machine.ended(.tooMuch, began: at(4), wasFull: false, at(5))
        #expect(machine.size == 18)
        machine.configured(limit: 30)
        #expect(machine.size == 18)
    }

    @Test(
        "An attempt that began before a reload tells of its upstream, and not of what the route allowed then"
    )
    func early() {
        let before = makeRoute { $0.concurrency.maxRequests = 20 }
        let present = makeRoute { $0.concurrency.maxRequests = 256 }
        var machine = RouteTrafficMachine()
        let asking = RouteTrafficMachine.Asking(kind: .first, upstreamIndex: 0, isKept: false, slot: .none)
        let leaves = (0..<3).compactMap { _ in
            if case .go(let leave) = machine.grant(before, asking, at(0)) { leave } else { nil }
        }
        machine.configured(present)
        let failure = Failure(.httpResponseTimeout, sent: .unknown, "late")
        let lost = AttemptFeedback(failure, named: failure, BreakerSettings(), nil, wallMilliseconds: 0)
        for (index, leave) in leaves.enumerated() {
            _ = machine.ended(
                leave,
                lost,
                of: index == 1 ? present : before,
                random: 0,
                at(1 + Double(index))
            )
        }
        #expect(machine.upstreams[0].window.size == 128)
    }

    @Test("After an outage it begins small, and grows with every success up to half of what it was")
    func restart() {
        var machine = WindowMachine(settings, limit: 100)
        machine.restart(settings)
        #expect(machine.size == 10)
        for _ in 0..<40 { machine.ended(.fine, began: at(0), wasFull: true, at(1)) }
        #expect(machine.size == 50)
        for _ in 0..<50 { machine.ended(.fine, began: at(0), wasFull: true, at(1)) }
        #expect(machine.size == 50)
    }

    @Test(
        "It begins with no less than the upstream bears already, and no slower after one outage behind the other",
        arguments: [(0, 10), (8, 10), (24, 24), (1_000, 100)]
    )
    func returns(underWay: Int, size: Int) {
        var machine = WindowMachine(settings, limit: 100)
        for _ in 0..<3 {
            machine.restart(settings, bearing: underWay)
            #expect(machine.size == size)
            machine.ended(.fine, began: at(0), wasFull: false, at(1))
        }
        for _ in 0..<50 { machine.ended(.fine, began: at(0), wasFull: true, at(1)) }
        #expect(machine.size == max(50, size))
    }
}

@Suite("An upstream's words on its limit are read in all their forms", .timeLimit(.minutes(1)))
struct RateLimitFieldsTests {
    private static let now: Int64 = 1_800_000_000_000

    @Test(
        "Nothing left means to wait, in seconds from now",
        arguments: [
            (["RateLimit: \"default\";r=0;t=30"], 30), (["ratelimit: \"a\";r=5;t=9, \"b\";r=0;t=7"], 7),
            (["RateLimit: limit=100, remaining=0, reset=12"], 12),
            (["RateLimit-Remaining: 0", "RateLimit-Reset: 5"], 5),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000020"], 20),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000020000"], 20),
            (["X-Rate-Limit-Remaining: 0", "X-Rate-Limit-Reset: 2.5"], 2.5),
            (["X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 20"], nil),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1700000000"], nil),
            (["X-RateLimit-Remaining: 0"], nil), (["X-RateLimit-Remaining: x", "X-RateLimit-Reset: 5"], nil),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: -5"], nil),
            (["RateLimit: \"a\";r=0;t=-1"], nil), (["RateLimit: ,;=,;r;t"], nil), ([], nil),
        ] as [([String], Double?)]
    )
    func forms(lines: [String], seconds: Double?) {
        var fields = HeaderFields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields.append(String(parts[0]), String(parts[1]).trimmingBlanks)
        }
        #expect(
            RateLimitFields.hold(fields, wallMilliseconds: Self.now)?.wait == seconds.map { .seconds($0) }
        )
    }
}
