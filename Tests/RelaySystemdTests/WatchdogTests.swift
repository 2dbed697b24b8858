import RelayPosix
import RelaySystemd
import Synchronization
import Testing

@Suite("Watchdog")
struct WatchdogTests {
    @Test("the manager is told until one operation has lasted as long as its limit")
    func machine() {
        var machine = WatchdogMachine(limit: 10)
        #expect(machine.ticked([0, 9]) == .ping)
        #expect(machine.ticked([0, 10]) == .withhold(stalled: [1], isNews: true))
        #expect(machine.ticked([3, 12]) == .withhold(stalled: [1], isNews: false))
        #expect(machine.ticked([10, 14]) == .withhold(stalled: [0, 1], isNews: true))
        #expect(machine.ticked([0, 0]) == .ping)
        #expect(machine.ticked([0, 11]) == .withhold(stalled: [1], isNews: true))
    }

    @Test("a thread between two operations keeps the daemon alive, one that stays in an operation does not")
    func watching() {
        let (store, journal) = (Activity("store"), Activity("journal"))
        let pings = Mutex(0)
        let stalls = Mutex<[[String]]>([])
        let looks = Mutex<[Int64]>([])
        let watchdog = Watchdog(
            interval: .seconds(3),
            activities: [store, journal],
            ping: { pings.withLock { $0 += 1 } },
            stalled: { names in stalls.withLock { $0.append(names) } },
            look: { now in looks.withLock { $0.append(now) } }
        )
        func second(_ number: Int64) -> Int64 { 1_000_000_000 * number }

        store.begin(at: second(1))
        watchdog.tick(at: second(2))
        watchdog.tick(at: second(3))
        #expect(pings.withLock { $0 } == 2)
        watchdog.tick(at: second(4))
        watchdog.tick(at: second(5))
        #expect(pings.withLock { $0 } == 2)
        #expect(stalls.withLock { $0 } == [["store"]])

        store.end()
        watchdog.tick(at: second(6))
        #expect(pings.withLock { $0 } == 3)
        #expect(looks.withLock { $0 }.count == 5)
    }

    @Test(
        "it looks often enough to tell others of a stall, and three times within a short limit",
        arguments: [
            (.seconds(10), .milliseconds(500)), (nil, .milliseconds(500)),
            (.milliseconds(900), .milliseconds(300)),
        ] as [(Duration?, Duration)]
    )
    func period(interval: Duration?, period: Duration) {
        let watchdog = Watchdog(interval: interval, activities: [], ping: {}, stalled: { _ in })
        #expect(watchdog.period == period)
    }
}
