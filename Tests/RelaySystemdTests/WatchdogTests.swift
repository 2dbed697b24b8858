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
            activities: { [store, journal] },
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
        "it looks twice a second while something is under way and rarely otherwise, and often within a short limit",
        arguments: [
            (.seconds(10), .milliseconds(500), .seconds(4)), (nil, .milliseconds(500), .seconds(4)),
            (.seconds(2), .milliseconds(500), .milliseconds(800)),
            (.milliseconds(900), .milliseconds(300), .milliseconds(360)),
        ] as [(Duration?, Duration, Duration)]
    )
    func pace(interval: Duration?, short: Duration, long: Duration) {
        let activity = Activity("store")
        let rests = Atomic<Bool>(true)
        let watchdog = Watchdog(
            interval: interval,
            activities: { [activity] },
            ping: {},
            stalled: { _ in },
            isIdle: { rests.load(ordering: .relaxed) }
        )
        #expect(watchdog.tick(at: 1_000) == long)
        activity.begin(at: 1_000)
        #expect(watchdog.tick(at: 1_001) == short)
        activity.end()
        #expect(watchdog.tick(at: 1_002) == long)
        rests.store(false, ordering: .relaxed)
        #expect(watchdog.tick(at: 1_003) == short)
    }

    @Test("who ends the rest has it look at once")
    func waking() throws {
        let looks = Atomic<Int>(0)
        let (began, woken) = (Handover<Bool>(), Handover<Bool>())
        let watchdog = Watchdog(
            interval: nil,
            activities: { [] },
            ping: {},
            stalled: { _ in },
            look: { _ in (looks.add(1, ordering: .relaxed).newValue == 1 ? began : woken).give(true) }
        )
        let start = SystemClock.monotonic()
        try #require(watchdog.start())
        _ = began.take()
        watchdog.wake()
        _ = woken.take()
        // The pause at rest would have been four seconds; the machine may be busy.
        #expect(SystemClock.monotonic() - start < 3_900_000_000)
    }

    @Test("a thread that stands from whenever on is named before the manager's limit ends the daemon")
    func naming() {
        let limit: Int64 = 10_000_000_000
        for offset in stride(from: Int64(0), to: 4_000_000_000, by: 250_000_000) {
            let activity = Activity("loop-0")
            let pinged = Mutex<Int64>(0)
            let named = Mutex<Int64?>(nil)
            let now = Mutex<Int64>(0)
            let watchdog = Watchdog(
                interval: .nanoseconds(limit),
                activities: { [activity] },
                ping: { pinged.withLock { $0 = now.withLock { $0 } } },
                stalled: { _ in named.withLock { $0 = now.withLock { $0 } } }
            )
            let stands = 4_000_000_000 + offset + 1
            while named.withLock({ $0 }) == nil, now.withLock({ $0 }) < 5 * limit {
                let at = now.withLock { $0 }
                if at >= stands { activity.begin(at: stands) }
                let wait = watchdog.tick(at: at)
                now.withLock { $0 = at + Int64(wait / .nanoseconds(1)) }
            }
            let told = named.withLock { $0 } ?? .max
            #expect(told >= stands + limit && told <= stands + limit + 1_000_000_000)
            // The manager ends it that long after the last ping.
            #expect(told < pinged.withLock { $0 } + limit)
        }
    }
}
