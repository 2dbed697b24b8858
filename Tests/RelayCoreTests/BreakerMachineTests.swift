import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite(
    "An upstream that fails is sent no more, and one request at a time finds out whether it is back",
    .timeLimit(.minutes(1))
)
struct BreakerMachineTests {
    private static let settings = {
        var settings = BreakerSettings()
        (settings.failureRatio, settings.sampling) = (0.5, .seconds(30))
        return settings
    }()

    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    /// Attempts that begin and end at one moment each, one after the other, a tenth of a second apart.
    private func run(
        _ words: [BreakerMachine.Signal],
        _ settings: BreakerSettings = settings,
        from start: Double = 0,
        every step: Double = 0.1
    ) -> BreakerMachine {
        var machine = BreakerMachine(settings)
        for (index, word) in words.enumerated() {
            let now = at(start + Double(index) * step)
            guard machine.permission(settings, now) == .go else { break }
            _ = machine.ended(word, epoch: machine.epoch, settings, random: 0, now)
        }
        return machine
    }

    private func words(_ works: Int, _ fails: Int) -> [BreakerMachine.Signal] {
        Array(repeating: .works, count: works) + Array(repeating: .fails, count: fails)
    }

    @Test(
        "It opens at half of twenty attempts, or at as many failures in a row as are configured",
        arguments: [
            (works: 0, fails: 19, inARow: nil, opens: false), (0, 20, nil, true), (10, 9, nil, false),
            (10, 10, nil, true), (11, 9, nil, false), (0, 4, 5, false), (0, 5, 5, true), (30, 5, 5, true),
        ] as [(works: Int, fails: Int, inARow: Int?, opens: Bool)]
    )
    func opens(works: Int, fails: Int, inARow: Int?, opens: Bool) {
        var settings = Self.settings
        settings.consecutiveFailures = inARow
        let machine = run(words(works, fails), settings)
        #expect((machine.state != .closed) == opens)
        #expect((machine.since != nil) == opens)
    }

    @Test(
        "By default the last twenty are enough when all of them failed, whatever came in the two seconds before",
        arguments: [(200, 19, false), (200, 20, true), (0, 20, true)]
    )
    func row(works: Int, fails: Int, opens: Bool) {
        let settings = BreakerSettings()
        #expect((run(words(works, fails), settings, every: 0.01).state != .closed) == opens)
        let mixed = Array(repeating: [.fails, .fails, .fails, .works] as [BreakerMachine.Signal], count: 50)
        #expect(run(mixed.flatMap(\.self), settings, every: 0.01).state == .closed)
        var explicit = settings
        explicit.sampling = .seconds(30)
        #expect((run(words(works, fails), explicit, every: 0.01).state != .closed) == (opens && works == 0))
    }

    @Test("An attempt older than the sampling duration counts no more")
    func window() {
        #expect(run(words(0, 40), every: 3.1).state == .closed)
        #expect(run(words(0, 40), every: 1).state != .closed)
    }

    @Test(
        "An end that is not the upstream's fault counts for nothing, and a switched off breaker never opens"
    )
    func neutral() {
        #expect(run(Array(repeating: .nothing, count: 100)).state == .closed)
        var settings = Self.settings
        settings.isEnabled = false
        #expect(run(words(0, 100), settings).state == .closed)
    }

    @Test("Slow attempts open it where they are configured to")
    func slow() {
        var settings = Self.settings
        (settings.slowDuration, settings.slowRatio) = (.seconds(1), 0.5)
        var machine = BreakerMachine(settings)
        for index in 0..<20 {
            _ = machine.ended(
                .works,
                epoch: machine.epoch,
                isSlow: index % 2 == 1,
                settings,
                random: 0,
                at(1)
            )
        }
        #expect(machine.state != .closed)
    }

    @Test("Open it refuses all; then one probes, and the others wait for what comes of it")
    func probes() throws {
        var machine = run(words(0, 20))
        guard case .open(let until, let wait) = machine.state else { throw Unexpected(machine.state) }
        #expect(wait == .milliseconds(500))
        let before = Instant(nanoseconds: until.nanoseconds - 1)
        #expect(machine.permission(Self.settings, before) == .refused(until: until))
        #expect(machine.permission(Self.settings, until) == .probe)
        for _ in 0..<100 {
            guard case .refused = machine.permission(Self.settings, until) else {
                throw Unexpected(machine.state)
            }
        }
        _ = machine.ended(.works, epoch: machine.epoch, Self.settings, random: 0, until)
        #expect(machine.state == .closed && machine.since == nil)
    }

    @Test("An attempt beside the probe that says nothing leaves it to the probe")
    func beside() throws {
        var machine = run(words(0, 20))
        guard case .open(let until, _) = machine.state else { throw Unexpected(machine.state) }
        #expect(machine.permission(Self.settings, until) == .probe)
        let probing = machine.state
        _ = machine.ended(.nothing, epoch: machine.epoch, isProbe: false, Self.settings, random: 0, until)
        #expect(machine.state == probing)
        guard case .refused = machine.permission(Self.settings, until) else {
            throw Unexpected(machine.state)
        }
        _ = machine.ended(.nothing, epoch: machine.epoch, Self.settings, random: 0, until)
        #expect(
            machine.permission(Self.settings, until) == .probe,
            "another finds out where the probe could not"
        )
    }

    @Test("A break is a tenth of the outage so far, the first at the least and the longest at the most")
    func grows() throws {
        var machine = run(words(0, 20))
        let (least, most) = (Self.settings.breakDuration, Self.settings.maxBreakDuration)
        let opened = try #require(machine.since)
        var waits: [Duration] = []
        while waits.last != most {
            guard case .open(let until, let wait) = machine.state else { throw Unexpected(machine.state) }
            waits.append(wait)
            #expect(machine.permission(Self.settings, until) == .probe)
            _ = machine.ended(.fails, epoch: machine.epoch, Self.settings, random: .max / 2, until)
            let tenth = opened.duration(to: until) / 10
            guard case .open(_, let next) = machine.state else { throw Unexpected(machine.state) }
            #expect(next == min(max(least, tenth), most))
        }
        #expect(
            waits.prefix(8).allSatisfy { $0 == least } && (35...55).contains(waits.count),
            "\(waits.count)"
        )
    }

    @Test(
        "The time of a probe is a part of the break after it, of which the first break's length at least is left",
        arguments: [(0, 6_000), (2, 4_200), (5, 1_500), (30, 500)]
    )
    func slowProbe(takes: Int, rest: Int) throws {
        var machine = run(words(0, 20))
        let opened = try #require(machine.since)
        let sent = opened.advanced(by: .seconds(60))
        #expect(machine.permission(Self.settings, sent) == .probe)
        let failed = sent.advanced(by: .seconds(takes))
        _ = machine.ended(.fails, epoch: machine.epoch, Self.settings, random: .max / 2, failed)
        guard case .open(_, let wait) = machine.state else { throw Unexpected(machine.state) }
        #expect(wait == .milliseconds(rest))
    }

    @Test("A break that was planned under longer settings ends by those of the present")
    func reloaded() {
        var settings = Self.settings
        (settings.breakDuration, settings.maxBreakDuration) = (.seconds(600), .seconds(3_600))
        var machine = run(words(0, 20), settings)
        #expect(machine.permission(settings, at(100)) != .probe)
        #expect(machine.permission(Self.settings, at(100)) == .probe)
    }

    @Test("A break is up to a fifth longer or shorter by chance, the first and those after a probe alike")
    func jitter() throws {
        var random = SplitMix64(seed: 1)
        var (first, later): ([Double], [Double]) = ([], [])
        for _ in 0..<200 {
            var machine = BreakerMachine(Self.settings)
            for _ in 0..<20 {
                let drawn = random.next()
                _ = machine.ended(.fails, epoch: machine.epoch, Self.settings, random: drawn, at(5))
            }
            guard case .open(let until, _) = machine.state else { throw Unexpected(machine.state) }
            first.append(at(5).duration(to: until) / .seconds(1))
            #expect(machine.permission(Self.settings, until) == .probe)
            _ = machine.ended(.fails, epoch: machine.epoch, Self.settings, random: random.next(), until)
            guard case .open(let next, _) = machine.state else { throw Unexpected(machine.state) }
            later.append(until.duration(to: next) / .seconds(1))
        }
        for breaks in [first, later] {
            let (least, most) = (try #require(breaks.min()), try #require(breaks.max()))
            #expect(least >= 0.4 && least < 0.41 && most > 0.59 && most <= 0.6)
        }
    }

    @Test("A probe of which nothing is known leaves it to the next to find out")
    func abandoned() throws {
        var machine = run(words(0, 20))
        #expect(machine.permission(Self.settings, at(100)) == .probe)
        let epoch = machine.epoch
        _ = machine.ended(.nothing, epoch: epoch, Self.settings, random: 0, at(101))
        #expect(machine.permission(Self.settings, at(101)) == .probe)
        // The word of the first probe is old news when it comes after all.
        _ = machine.ended(.works, epoch: epoch, Self.settings, random: 0, at(102))
        #expect(machine.state != .closed)
    }

    @Test("An attempt that began before the breaker opened says nothing afterwards")
    func oldNews() throws {
        var machine = run(words(0, 20))
        let state = machine.state
        _ = machine.ended(.works, epoch: 0, Self.settings, random: 0, at(3))
        _ = machine.ended(.fails, epoch: 0, Self.settings, random: 0, at(3))
        #expect(machine.state == state)
    }

    @Test("An operator's word holds for its time, whatever happens, and then it is the machine's again")
    func ordered() {
        var machine = BreakerMachine(Self.settings)
        machine.ordered(.open, until: at(60), at(0))
        #expect(machine.permission(Self.settings, at(59)) == .refused(until: at(60)))
        #expect(machine.permission(Self.settings, at(60)) == .go)
        machine.ordered(.closed, until: at(120), at(60))
        for _ in 0..<100 { _ = machine.ended(.fails, epoch: machine.epoch, Self.settings, random: 0, at(61)) }
        #expect(machine.permission(Self.settings, at(119)) == .go)
        machine.ordered(nil, until: at(0), at(61))
        for _ in 0..<20 { _ = machine.ended(.fails, epoch: machine.epoch, Self.settings, random: 0, at(62)) }
        #expect(machine.permission(Self.settings, at(62)) != .go)
    }
}

/// A state that a test did not expect.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ value: some Sendable) { description = "unexpected: \(value)" }
}
