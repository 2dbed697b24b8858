/// Decides whether the manager hears that the daemon is alive: only when every heartbeat has moved since it last
/// did.
package struct WatchdogMachine: Sendable {
    /// What to do at a tick.
    package enum Action: Sendable, Equatable {
        case ping
        /// The loops at these positions stand still. `isNews` is false while the same ones stood still before.
        case withhold(stalled: [Int], isNews: Bool)
    }

    private var counts: [UInt64]
    private var stalled: [Int] = []

    /// - Parameter counts: the heartbeats' values at the start.
    package init(counts: [UInt64]) { self.counts = counts }

    /// A third of the watchdog's interval has passed.
    ///
    /// `current` are the heartbeats' values now, in the order of the start.
    package mutating func ticked(_ current: [UInt64]) -> Action {
        let still = counts.indices.filter { $0 < current.count && current[$0] == counts[$0] }
        guard still.isEmpty else {
            defer { stalled = still }
            return .withhold(stalled: still, isNews: still != stalled)
        }
        stalled = []
        counts = current
        return .ping
    }
}
