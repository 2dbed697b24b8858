package import RelayJobs

/// Which events of a feed other daemons are still to be told of: of each kind those behind the last one.
package struct EventShare {
    /// The number of the last event of each kind that was told of.
    private var told: [EventKind: UInt64] = [:]
    /// The kinds that were wanted the last time: of others nobody misses what is gone.
    private var wanted: Set<EventKind> = []

    package init() {}

    /// Up to `limit` events, and of them those of these kinds that were not told of; first what is gone of these.
    package mutating func news(
        of kinds: Set<EventKind>,
        in feed: EventFeed,
        limit: Int
    ) -> (lost: SharedEvent?, events: [EventFeed.Entry]) {
        let known = kinds.intersection(wanted).compactMap { told[$0] }.min()
        wanted = kinds
        guard let first = kinds.map({ told[$0] ?? 0 }).min() else { return (nil, []) }
        let reading = feed.events(after: first, limit: limit)
        var lost: SharedEvent?
        if let known, let next = reading.events.first, next.number > known + 1 {
            lost = .lost(next.number - known - 1, at: next.at)
        }
        let events = reading.events.filter { kinds.contains($0.kind) && $0.number > told[$0.kind] ?? 0 }
        for kind in kinds { told[kind] = max(told[kind] ?? 0, reading.lastNumber) }
        return (lost, events)
    }
}
