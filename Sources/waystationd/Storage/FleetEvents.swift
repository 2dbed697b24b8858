import RelayBase
import RelayEngine
import RelayFleet
import RelayJobs
import RelayPosix
import RelayServer
import Synchronization

/// Tells the other daemons of a fleet what happens here while somebody reads events there, and readers here of theirs.
final class FleetEvents: Sendable {
    private let feed: EventFeed
    private let store: PostgreSQLJobStore
    private let share = Mutex(EventShare())
    private let exchanging = Mutex<Task<Void, Never>?>(nil)

    /// How long a reader counts as one after it has read, since it may connect again.
    private static let lasting = Duration.seconds(30)
    /// Nanoseconds between two exchanges, and between two looks whether there is somebody who reads.
    private static let (interval, pause): (Int64, Int64) = (200_000_000, 500_000_000)
    /// Events that are told of at once.
    private static let batch = 500

    init(_ feed: EventFeed, _ store: PostgreSQLJobStore) {
        self.feed = feed
        self.store = store
    }

    func start(on loop: EventLoop) {
        let exchanging = loop.spawn { [self] in
            var isOwed = false
            while !Task.isCancelled {
                let since = Instant(nanoseconds: loop.currentTime()).advanced(by: .zero - Self.lasting)
                let (read, wanted) = (feed.kindsRead(since: since), store.wantedEvents)
                let isIdle = read.isEmpty && wanted.isEmpty && !isOwed
                do {
                    try await loop.sleep(until: loop.currentTime() + (isIdle ? Self.pause : Self.interval))
                } catch { return }
                guard !isIdle else { continue }
                // Events that could not be told of go first.
                let events = isOwed ? [] : news(of: wanted)
                isOwed = true
                do throws(StoreError) {
                    for event in try await store.exchange(events, reading: read) { feed.take(event) }
                    isOwed = false
                } catch { if error.code == .closed { return } }
            }
        }
        self.exchanging.withLock { $0 = exchanging }
    }

    /// Tells what has happened since it was last told, before the store is closed.
    func finish() async {
        let exchanging = exchanging.withLock { $0.take() }
        exchanging?.cancel()
        await exchanging?.value
        let wanted = store.wantedEvents
        guard !wanted.isEmpty else { return }
        // A database that is away is told of by the store, which ends its lease next.
        _ = try? await store.exchange(news(of: wanted), reading: [])
    }

    /// The events of these kinds that have come since they were last asked for.
    private func news(of kinds: Set<EventKind>) -> [SharedEvent] {
        let (lost, events) = share.withLock { $0.news(of: kinds, in: feed, limit: Self.batch) }
        return (lost.map { [$0] } ?? []) + events.compactMap { EventDocument.shared($0) }
    }
}
