import CSystemd
package import RelayPosix
import Synchronization

/// Looks after the vital threads from a thread of its own: pings the service manager's watchdog while all of them move,
/// and lets others look as well.
package final class Watchdog: Sendable {
    /// Between two looks: half a second, or a third of a shorter `WatchdogSec=`.
    package let period: Duration

    private let activities: [Activity]
    /// Nil where the manager is to be told nothing.
    private let machine: Mutex<WatchdogMachine?>
    private let ping: @Sendable () -> Void
    private let stalled: @Sendable ([String]) -> Void
    private let look: @Sendable (Int64) -> Void

    /// - Parameters:
    ///   - interval: the manager's limit, see `intervalFromEnvironment`; nil when nothing is to be told to it.
    ///   - activities: one of each vital thread.
    ///   - ping: tells the manager.
    ///   - stalled: called with the names of the threads that stand still, once per change.
    ///   - look: called at every look, with the monotonic nanoseconds.
    package init(
        interval: Duration?,
        activities: [Activity],
        ping: @escaping @Sendable () -> Void,
        stalled: @escaping @Sendable ([String]) -> Void,
        look: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        period = min(.milliseconds(500), (interval ?? .seconds(60)) / 3)
        self.activities = activities
        machine = Mutex(interval.map { WatchdogMachine(limit: Int64($0 / .nanoseconds(1))) })
        self.ping = ping
        self.stalled = stalled
        self.look = look
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
                    self.tick(at: SystemClock.monotonic())
                    pause.wait(milliseconds: milliseconds)
                }
            }
            return true
        } catch {
            return false
        }
    }

    /// One look: pings or holds back.
    package func tick(at now: Int64) {
        look(now)
        let durations = activities.map { $0.duration(at: now) }
        switch machine.withLock({ $0?.ticked(durations) }) {
        case nil: return
        case .ping: ping()
        case .withhold(let positions, let isNews):
            if isNews { stalled(positions.map { activities[$0].name }) }
        }
    }
}
