import CSystemd
package import RelayPosix
import Synchronization

/// Looks after the vital threads from a thread of its own: pings the service manager's watchdog while all of them move,
/// and lets others look as well.
package final class Watchdog: Sendable {
    private let pace: WatchdogPace
    private let activities: @Sendable () -> [Activity]
    /// Nil where the manager is to be told nothing.
    private let machine: Mutex<WatchdogMachine?>
    private let ping: @Sendable () -> Void
    private let stalled: @Sendable ([String]) -> Void
    private let look: @Sendable (Int64) -> Void
    private let isIdle: @Sendable () -> Bool
    private let pause = EventDescriptor()

    /// - Parameters:
    ///   - interval: the manager's limit, see `intervalFromEnvironment`; nil when nothing is to be told to it.
    ///   - activities: one of each vital thread; those of threads that begin later come last.
    ///   - ping: tells the manager.
    ///   - stalled: called with the names of the threads that stand still, once per change.
    ///   - look: called at every look, with the monotonic nanoseconds.
    ///   - isIdle: whether nothing is under way, so that fewer looks are enough until `wake`.
    package init(
        interval: Duration?,
        activities: @escaping @Sendable () -> [Activity],
        ping: @escaping @Sendable () -> Void,
        stalled: @escaping @Sendable ([String]) -> Void,
        look: @escaping @Sendable (Int64) -> Void = { _ in },
        isIdle: @escaping @Sendable () -> Bool = { true }
    ) {
        pace = WatchdogPace(interval: interval)
        self.activities = activities
        machine = Mutex(interval.map { WatchdogMachine(limit: Int64($0 / .nanoseconds(1))) })
        self.ping = ping
        self.stalled = stalled
        self.look = look
        self.isIdle = isIdle
    }

    /// The interval that `WatchdogSec=` asks of this process (sd_watchdog_enabled(3)); nil when it asks none.
    package static func intervalFromEnvironment() -> Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    /// Begins to tick; goes on until the process ends.
    ///
    /// - Returns: false when the kernel refused a thread or a descriptor.
    package func start() -> Bool {
        guard let pause else { return false }
        do throws(PosixError) {
            try startDetachedThread("watchdog") {
                while true {
                    let wait = self.tick(at: SystemClock.monotonic())
                    pause.wait(milliseconds: Int32(clamping: max(1, Int64(wait / .milliseconds(1)))))
                }
            }
            return true
        } catch {
            return false
        }
    }

    /// Looks at once, and then as often as what is under way wants it.
    package func wake() { pause?.signal() }

    /// One look: pings or holds back.
    ///
    /// - Returns: until the next one.
    @discardableResult
    package func tick(at now: Int64) -> Duration {
        look(now)
        let activities = activities()
        let durations = activities.map { $0.duration(at: now) }
        switch machine.withLock({ $0?.ticked(durations) }) {
        case nil: break
        case .ping: ping()
        case .withhold(let positions, let isNews):
            if isNews { stalled(positions.map { activities[$0].name }) }
        }
        return pace.pause(durations, isIdle: isIdle())
    }
}
