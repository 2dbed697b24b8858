import RelayBase
package import RelayCore

/// Those who listen in every daemon, and their order.
package struct Listeners: Sendable {
    package let feed: EventFeed
    package let capacity = QueueCapacity()
    package let pauses: RoutePauses
    let network: NetworkHolds
    let waiters = JobWaiters(limit: 10_000)
    package let engine: Engine

    package init(_ engine: Engine, feed: EventFeed) {
        self.engine = engine
        self.feed = feed
        pauses = RoutePauses(engine)
        network = NetworkHolds(engine)
    }

    /// Tells all of them, and `others` before anybody wakes; what is told by it counts in that shard.
    package func announcer(and others: [any JobListener] = [], shard: Int = 0) -> Announcer {
        let first: [any JobListener] = [
            RouteTally(engine, shard: shard), capacity, engine.recent, engine.history, feed,
        ]
        return Announcer(first + others + [pauses, waiters], engine.time)
    }
}
