import RelayCore
import Synchronization

// MARK: Bodies that find no room

extension DurableJobs {
    /// How long a refused body makes the store count as full, which may still take smaller ones.
    private static let fullAfterRefusal: Duration = .seconds(10)

    /// A body of the route found no room in the store.
    package func foundNoRoom(for route: String) {
        let now = engine.time.now()
        let last = noRoomAt.withLock { last in
            defer { last = now }
            return last
        }
        if let last, last.duration(to: now) < DurableJobs.fullAfterRefusal { return }
        nextRelay()?.ports.sink.record(.bodyFoundNoRoom(route: route))
    }

    /// Whether jobs are refused for want of room, all of them or those with a large body.
    package var lacksRoom: Bool {
        if storage.isFull { return true }
        let now = engine.time.now()
        return noRoomAt.withLock { $0.map { $0.duration(to: now) < DurableJobs.fullAfterRefusal } ?? false }
    }
}
