import RelayBase
import RelayEngine
import RelayJobs
import Testing

/// A machine that an expectation may move.
private final class Moved {
    var machine: DispatchMachine

    init(_ machine: DispatchMachine = DispatchMachine()) { self.machine = machine }

    func step(
        _ now: Instant,
        permits: Int = .max,
        isPaused: Bool = false,
        isShort: Bool = false,
        room: Int = .max
    ) -> DispatchMachine.Step {
        machine.step(now, permits: permits, isPaused: isPaused, isShort: isShort, capacity: room)
    }
    func started() -> Bool { machine.started() }
    func claiming(_ asked: Int = 64) { machine.claiming(asked) }
    func ready(_ work: FreshWork? = nil) { machine.ready(work) }
    func offered(
        _ now: Instant,
        permits: Int = .max,
        isShort: Bool = false,
        isPaused: Bool = false,
        room: Int = .max
    ) -> Bool {
        machine.offered(now, permits: permits, isPaused: isPaused, isShort: isShort, capacity: room)
    }
    func withdrawn() -> Bool { machine.withdrawn() }
    func settled(_ now: Instant) -> Bool { machine.settled(now) }
    func settling(_ now: Instant) { machine.settling(now) }
    func failed() { machine.settlementFailed() }

    func claimed(_ count: Int, of asked: Int, nextDue: Instant? = nil, _ now: Instant) -> Bool {
        machine.claimed(count, of: asked, nextDue: nextDue, now)
    }

    func ran(
        _ credential: DispatchMachine.Credential,
        isProbe: Bool,
        random: UInt64 = 0,
        _ now: Instant
    ) -> Bool {
        machine.ran(credential, isProbe: isProbe, random: random, now)
    }
}

@Suite("When jobs are claimed")
struct DispatchMachineTests {
    private func at(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    private func idle(_ machine: Moved, due: Int? = nil) {
        machine.claiming()
        _ = machine.claimed(0, of: 64, nextDue: due.map { at($0) }, at(0))
    }

    @Test("A turn at the upstream is claimed for once, however late the attempt takes it")
    func oneClaimATurn() {
        let machine = Moved()
        #expect(machine.step(at(0), room: 1) == .claim(atMost: 1))
        machine.claiming(1)
        #expect(!machine.claimed(1, of: 1, at(0)))
        #expect(machine.step(at(0), room: 1) == .sleep(until: at(60)), "the turn is the first one's")
        #expect(!machine.offered(at(0), room: 1))
        #expect(machine.step(at(0), room: 2) == .claim(atMost: 1))
        #expect(machine.step(at(0), room: 1) == .sleep(until: at(60)))
        #expect(machine.started(), "its start was waited for")
        #expect(machine.step(at(0), room: 1) == .claim(atMost: 1))
        #expect(machine.offered(at(0), room: 1))
        #expect(machine.step(at(0), room: 1) == .sleep(until: at(60)))
        #expect(machine.withdrawn(), "the store did not claim it")
        #expect(machine.step(at(0), room: 1) == .claim(atMost: 1))
    }

    @Test("It begins with a claim, and sleeps when there is nothing until it hears of something")
    func begins() {
        let machine = Moved()
        #expect(machine.step(at(0)) == .claim(atMost: 64))
        idle(machine)
        #expect(machine.step(at(0)) == .sleep(until: at(60)))
        machine.ready()
        #expect(machine.step(at(1)) == .claim(atMost: 64))
    }

    @Test("A job that becomes ready while a claim is asked for is not overlooked")
    func race() {
        let machine = Moved()
        machine.claiming()
        machine.ready()
        _ = machine.claimed(0, of: 64, at(0))
        #expect(machine.step(at(0)) == .claim(atMost: 64))
    }

    private func work(_ jobs: Int, hasDates: Bool = false) -> FreshWork {
        var work = FreshWork()
        (work.jobs, work.hasDates) = (jobs, hasDates)
        return work
    }

    @Test("Once it has seen that none wait, it claims no more than have come since")
    func counted() {
        let machine = Moved()
        idle(machine)
        machine.ready(work(3))
        #expect(machine.step(at(0)) == .claim(atMost: 3))
        machine.claiming(2)
        machine.ready(work(1))
        _ = machine.claimed(2, of: 2, at(0))
        #expect(machine.step(at(0)) == .claim(atMost: 2))
        machine.claiming(2)
        _ = machine.claimed(2, of: 2, at(0))
        #expect(machine.step(at(0)) == .sleep(until: at(60)))
        machine.ready(work(1, hasDates: true))
        #expect(machine.step(at(0)) == .claim(atMost: 64))
    }

    @Test("A claim that found all it knew of leaves the date that was known")
    func date() {
        let machine = Moved()
        idle(machine, due: 10)
        machine.ready(work(1))
        machine.claiming(1)
        _ = machine.claimed(1, of: 1, at(0))
        #expect(machine.step(at(1)) == .sleep(until: at(10)))
        #expect(machine.step(at(10)) == .claim(atMost: 64))
    }

    @Test("A claim that failed is not asked for again at once, however many are known to wait")
    func failedClaim() {
        var machine = DispatchMachine()
        machine.claiming(64)
        _ = machine.claimed(0, of: 64, nextDue: nil, at(0))
        machine.ready(work(9))
        machine.claiming(3)
        machine.claimFailed(at(0))
        #expect(machine.step(at(0)) == .sleep(until: at(1)))
        #expect(machine.step(at(1)) == .claim(atMost: 64))
    }

    @Test("It sleeps until the next job is due, and never longer than a minute")
    func due() {
        let machine = Moved()
        idle(machine, due: 10)
        #expect(machine.step(at(1)) == .sleep(until: at(10)))
        #expect(machine.step(at(10)) == .claim(atMost: 64))
        idle(machine, due: 100_000)
        #expect(machine.step(at(11)) == .sleep(until: at(71)))
    }

    @Test("As many as were asked for means that there may be more")
    func more() {
        let machine = Moved()
        machine.claiming()
        _ = machine.claimed(3, of: 3, at(0))
        #expect(machine.step(at(0)) == .claim(atMost: 64))
    }

    @Test("A job on its way to disk counts as a claim until it is known to be none")
    func offered() {
        let machine = Moved(DispatchMachine(maxUnsettled: 2))
        #expect(machine.offered(at(0)) && machine.offered(at(0)) && !machine.offered(at(0)))
        #expect(machine.step(at(0)) == .sleep(until: at(60)))
        #expect(machine.withdrawn())
        #expect(!machine.withdrawn())
        #expect(machine.step(at(0)) == .claim(atMost: 2))
    }

    @Test("No job is claimed with its acceptance while a claim would have to wait")
    func notOffered() {
        let machine = Moved()
        #expect(!machine.offered(at(0), isPaused: true))
        machine.claiming()
        _ = machine.claimed(1, of: 64, at(0))
        #expect(machine.ran(.failed, isProbe: false, at(0)))
        #expect(!machine.offered(at(0)))
        // Nor is it the probe that finds out.
        #expect(!machine.offered(at(50)))
        let slow = Moved()
        #expect(slow.offered(at(0), permits: 1))
        slow.settling(at(0))
        #expect(slow.offered(at(0), permits: 1))
        #expect(!slow.offered(at(2), permits: 1))
    }

    @Test(
        "While memory is short a quarter of the permits is claimed, and it is looked each second whether it still is"
    )
    func short() {
        let machine = Moved()
        #expect(machine.step(at(0), permits: 64, isShort: true) == .claim(atMost: 16))
        #expect(machine.step(at(0), permits: 3, isShort: true) == .claim(atMost: 1), "and never none")
        machine.claiming(16)
        _ = machine.claimed(16, of: 16, at(0))
        #expect(machine.step(at(0), permits: 64, isShort: true) == .sleep(until: at(1)))
        #expect(machine.step(at(0), permits: 64, isPaused: true, isShort: true) == .sleep(until: at(60)))
        #expect(!machine.offered(at(0), permits: 64, isShort: true))
        machine.settling(at(0))
        #expect(machine.settled(at(0)), "its end is a reason to look again")
        #expect(machine.offered(at(0), permits: 64, isShort: true))
        #expect(machine.step(at(1), permits: 64) == .claim(atMost: 64))
    }

    @Test("Claims that are not settled are bounded")
    func bounded() {
        let machine = Moved(DispatchMachine(maxUnsettled: 70))
        machine.claiming()
        _ = machine.claimed(64, of: 64, at(0))
        #expect(machine.step(at(0)) == .claim(atMost: 6))
        machine.claiming()
        _ = machine.claimed(6, of: 6, at(0))
        #expect(machine.step(at(0)) == .sleep(until: at(60)))
        #expect(machine.settled(at(0)) && machine.step(at(0)) == .claim(atMost: 1))
        #expect(!machine.settled(at(0)) && machine.machine.unsettled == 68)
    }

    @Test(
        "While settlements fail or are slow, no more is unsettled than the route has places",
        arguments: [(true, 0), (false, 1)]
    )
    func heldUp(fails: Bool, seconds: Int) {
        let machine = Moved()
        machine.claiming()
        _ = machine.claimed(5, of: 5, at(0))
        for _ in 0..<5 { machine.settling(at(0)) }
        #expect(machine.step(at(0), permits: 5) == .claim(atMost: 64))
        if fails { machine.failed() }
        #expect(machine.step(at(seconds), permits: 5) == .sleep(until: at(seconds + 60)))
        #expect(machine.step(at(seconds), permits: 8) == .claim(atMost: 3))
        #expect(machine.step(at(seconds), permits: 5) == .sleep(until: at(seconds + 60)))
        // The store goes on, and so does the dispatcher.
        #expect(machine.settled(at(seconds)))
        #expect(machine.step(at(seconds), permits: 5) == .claim(atMost: 64))
        for _ in 0..<4 { _ = machine.settled(at(seconds)) }
        #expect(machine.step(at(100), permits: 5) == .claim(atMost: 64))
    }

    @Test("A paused route claims nothing, and looks again when it goes on")
    func paused() {
        let machine = Moved()
        machine.ready()
        #expect(machine.step(at(0), isPaused: true) == .sleep(until: at(60)))
        machine.ready()
        #expect(machine.step(at(0)) == .claim(atMost: 64))
        machine.machine.end()
        #expect(machine.step(at(0)) == .end)
    }

    @Test("A store that could not answer is asked again a second later")
    func failed() {
        let machine = Moved()
        machine.claiming()
        machine.machine.claimFailed(at(0))
        #expect(machine.step(at(0)) == .sleep(until: at(1)))
        #expect(machine.step(at(1)) == .claim(atMost: 64))
    }

    @Test(
        "A store that is away is asked again after waits that grow to a second, each spread over half of it"
    )
    func away() {
        var machine = DispatchMachine()
        var (now, waits) = (Int64(0), [Int64]())
        func fail(_ random: UInt64) -> Int64 {
            let present = Instant(nanoseconds: now * 1_000_000)
            machine.claiming(1)
            machine.claimFailed(present, random: random)
            guard case .sleep(let until) = machine.step(present) else { return 0 }
            let wait = present.duration(to: until).saturatedNanoseconds / 1_000_000
            now += wait
            #expect(machine.step(until) == .claim(atMost: 64))
            return wait
        }
        for _ in 0..<6 { waits.append(fail(0)) }
        #expect(waits == [50, 100, 200, 400, 500, 500])
        let longest = fail(UInt64((500_000_000 - 1) << 11))
        #expect(longest == 999)
        _ = machine.claimed(0, of: 1, nextDue: nil, Instant(nanoseconds: now * 1_000_000))
        machine.ready()
        #expect(fail(0) == 50)
    }

    @Test("After a credential failed one job at a time tries it, after waits that double up to a minute")
    func gate() {
        let machine = Moved()
        #expect(machine.ran(.failed, isProbe: false, at(0)))
        // Those that were under way at the time say the same, once.
        #expect(!machine.ran(.failed, isProbe: false, at(0)))
        var now = 0
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(machine.step(at(now)) == .sleep(until: at(now + wait)))
            now += wait
            #expect(machine.step(at(now)) == .claim(atMost: 1))
            machine.claiming()
            #expect(machine.claimed(1, of: 1, at(now)))
            #expect(machine.step(at(now)) == .sleep(until: at(now + 60)))
            #expect(machine.ran(.failed, isProbe: true, at(now)))
        }
        #expect(machine.step(at(now + 60)) == .claim(atMost: 1))
        machine.claiming()
        #expect(machine.claimed(1, of: 1, at(now + 60)))
        #expect(!machine.ran(.passed, isProbe: false, at(now + 60)))
        #expect(machine.ran(.passed, isProbe: true, at(now + 60)) && machine.machine.gate == .open)
        #expect(machine.step(at(now + 60)) == .claim(atMost: 64))
    }

    @Test("A probe that ended before it knew lets the next job try at once; the spread is a fifth at most")
    func unknown() {
        let machine = Moved()
        _ = machine.ran(.failed, isProbe: false, random: .max, at(0))
        guard case .shut(let until, _) = machine.machine.gate else {
            Issue.record("the gate is open")
            return
        }
        #expect(until > at(1) && until <= at(1).advanced(by: .milliseconds(200)))
        machine.claiming()
        #expect(machine.claimed(1, of: 1, at(2)))
        _ = machine.ran(.unknown, isProbe: true, at(2))
        #expect(machine.step(at(2)) == .claim(atMost: 1))
        machine.claiming()
        // Nothing to try it with: the next job does.
        #expect(!machine.claimed(0, of: 1, at(2)))
        machine.ready()
        #expect(machine.step(at(3)) == .claim(atMost: 1))
    }
}
