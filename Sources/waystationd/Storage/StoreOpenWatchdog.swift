import Glibc
import RelayPosix
import RelayStore
import RelaySystemd
import Synchronization

/// Looks after a start while the job store is looked through: asks the service manager for more time for as long as the
/// disk gives what it is asked for, and ends the process when it is to stop, since nothing else hears that yet.
final class StoreOpenWatchdog: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Nanoseconds between two looks.
    private static let period: Int64 = 1_000_000_000
    /// The time that is asked for whenever there was progress.
    private static let further = Duration.seconds(10)

    /// Watches until `end`; `stopped` is called on the loop when the start is to end.
    init(_ notifier: ServiceNotifier, on loop: EventLoop, stopped: @escaping @Sendable () -> Never) {
        loop.spawn { [self] in
            var seen = SQLiteJobStore.progress
            while !isOver.load(ordering: .relaxed) {
                do { try await loop.sleep(until: loop.now + Self.period) } catch { return }
                guard !isOver.load(ordering: .relaxed) else { return }
                if SignalWatcher.isPending(FailedStart.endings) { stopped() }
                let progress = SQLiteJobStore.progress
                guard progress != seen else { continue }
                seen = progress
                notifier.send(.extendTimeout(Self.further))
            }
        }
    }

    func end() { isOver.store(true, ordering: .relaxed) }
}
