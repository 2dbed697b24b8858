import CSystemd
import RelayPosix
import Synchronization

/// Pings the service manager's watchdog from a thread of its own while all vital loops move.
package final class Watchdog: Sendable {
    /// A third of `WatchdogSec=`: two ticks may be missed.
    package let period: Duration

    private let heartbeats: [Heartbeat]
    private let machine: Mutex<WatchdogMachine>
    private let ping: @Sendable () -> Void
    private let stalled: @Sendable ([String]) -> Void

    /// - Parameters:
    ///   - interval: the manager's limit; see `intervalFromEnvironment`.
    ///   - heartbeats: one for each vital loop.
    ///   - ping: tells the manager.
    ///   - stalled: called with the names of the loops that stand still, once per change.
    package init(
        interval: Duration,
        heartbeats: [Heartbeat],
        ping: @escaping @Sendable () -> Void,
        stalled: @escaping @Sendable ([String]) -> Void
    ) {
        period = interval / 3
        self.heartbeats = heartbeats
        machine = Mutex(WatchdogMachine(counts: heartbeats.map { $0.count() }))
        self.ping = ping
        self.stalled = stalled
        for heartbeat in heartbeats { heartbeat.poke() }
    }

    /// What `WatchdogSec=` asks of this process (sd_watchdog_enabled(3)); nil when it asks nothing.
    package static func intervalFromEnvironment() -> Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    /// Begins to tick; goes on until the process ends.
    ///
    /// - Returns: false when the kernel refused a thread or a descriptor.
    package func start() -> Bool {
        guard let pause = EventDescriptor() else { return false }
        let milliseconds = Int32(clamping: max(1, Int64(period / .milliseconds(1))))
        do throws(PosixError) {
            try startDetachedThread("watchdog") {
                while true {
                    pause.wait(milliseconds: milliseconds)
                    self.tick()
                }
            }
            return true
        } catch {
            return false
        }
    }

    /// One look at the heartbeats: pings or holds back, then wakes the loops for the next look.
    package func tick() {
        let counts = heartbeats.map { $0.count() }
        switch machine.withLock({ $0.ticked(counts) }) {
        case .ping: ping()
        case .withhold(let positions, let isNews):
            if isNews { stalled(positions.map { heartbeats[$0].name }) }
        }
        for heartbeat in heartbeats { heartbeat.poke() }
    }
}
