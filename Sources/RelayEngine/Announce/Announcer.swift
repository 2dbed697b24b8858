package import RelayBase
package import RelayCore

/// The one place that is told what happens, and the only one that knows who listens.
///
/// Each event reaches every listener once, one listener after the other in the order of the list. Counters come before
/// what is read, and listeners that wake others last: whoever is woken finds all the rest as the event left it.
package final class Announcer: EventSink {
    private let listeners: [any JobListener]
    private let time: any ClockSource

    package init(_ listeners: [any JobListener], _ time: any ClockSource) {
        self.listeners = listeners
        self.time = time
    }

    package func record(_ event: JobEvent) {
        let wall = time.wallMilliseconds()
        for listener in listeners { listener.heard(event, at: wall) }
    }
}

/// Those who listen in every daemon, and their order.
package struct Audience: Sendable {
    package let feed: EventFeed
    package let room = QueueRoom()
    package let pauses: RoutePauses
    let waiters = JobWaiters(limit: 10_000)
    package let engine: Engine

    package init(_ engine: Engine, feed: EventFeed) {
        self.engine = engine
        self.feed = feed
        pauses = RoutePauses(engine)
    }

    /// Tells all of them, and `others` before anybody wakes; what is told by it counts in that lane.
    package func announcer(and others: [any JobListener] = [], lane: Int = 0) -> Announcer {
        let first: [any JobListener] = [RouteTally(engine, lane: lane), room, engine.recent, feed]
        return Announcer(first + others + [pauses, waiters], engine.time)
    }
}
