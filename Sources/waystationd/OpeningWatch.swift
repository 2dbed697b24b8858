import RelayPosix
import RelayStore
import RelaySystemd
import Synchronization

/// Asks the service manager for more time while the job store is looked through, for as long as the disk gives what it
/// is asked for.
final class OpeningWatch: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Nanoseconds between two looks.
    private static let period: Int64 = 1_000_000_000
    /// What is asked for each time that there was progress.
    private static let further = Duration.seconds(10)

    init(_ notifier: ServiceNotifier, on loop: EventLoop) {
        loop.spawn { [self] in
            var seen = SQLiteJobStore.progress
            while !isOver.load(ordering: .relaxed) {
                do { try await loop.sleep(until: loop.now + Self.period) } catch { return }
                let progress = SQLiteJobStore.progress
                guard progress != seen, !isOver.load(ordering: .relaxed) else { continue }
                seen = progress
                notifier.send(.extendTimeout(Self.further))
            }
        }
    }

    func end() { isOver.store(true, ordering: .relaxed) }
}
