import RelaySystemd
import Synchronization
import Testing

@Suite("Watchdog")
struct WatchdogTests {
    @Test("the manager is told only when every loop has moved")
    func machine() {
        var machine = WatchdogMachine(counts: [0, 0])
        #expect(machine.ticked([1, 0]) == .withhold(stalled: [1], isNews: true))
        #expect(machine.ticked([2, 0]) == .withhold(stalled: [1], isNews: false))
        #expect(machine.ticked([2, 1]) == .ping)
        #expect(machine.ticked([2, 2]) == .withhold(stalled: [0], isNews: true))
        #expect(machine.ticked([3, 2]) == .ping)
    }

    @Test("a counter that has gone round counts as moved")
    func overflow() {
        var machine = WatchdogMachine(counts: [.max])
        #expect(machine.ticked([0]) == .ping)
    }

    @Test("an idle loop is woken and so keeps the daemon alive; a stuck one does not")
    func pokes() {
        let loop = FakeLoop()
        let pings = Mutex(0)
        let stalls = Mutex<[[String]]>([])
        let watchdog = Watchdog(
            interval: .seconds(3),
            heartbeats: [loop.heartbeat(named: "loop 0")],
            ping: { pings.withLock { $0 += 1 } },
            stalled: { names in stalls.withLock { $0.append(names) } }
        )
        #expect(watchdog.period == .seconds(1))

        watchdog.tick()
        watchdog.tick()
        #expect(pings.withLock { $0 } == 2)

        loop.isStuck.withLock { $0 = true }
        watchdog.tick()
        watchdog.tick()
        watchdog.tick()
        #expect(pings.withLock { $0 } == 3)
        #expect(stalls.withLock { $0 } == [["loop 0"]])

        loop.isStuck.withLock { $0 = false }
        watchdog.tick()
        watchdog.tick()
        #expect(pings.withLock { $0 } == 4)
    }
}

/// Moves when it is poked, unless it is stuck.
private final class FakeLoop: Sendable {
    let isStuck = Mutex(false)
    private let turns = Mutex<UInt64>(0)

    func heartbeat(named name: String) -> Heartbeat {
        Heartbeat(
            name: name,
            count: { self.turns.withLock { $0 } },
            poke: { if !self.isStuck.withLock({ $0 }) { self.turns.withLock { $0 += 1 } } }
        )
    }
}
