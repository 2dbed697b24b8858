/// Decides whether the manager hears that the daemon is alive: only while no vital thread has been at one operation
/// for as long as the manager's limit.
package struct WatchdogMachine: Sendable {
    /// The step to take at a tick.
    package enum Action: Sendable, Equatable {
        case ping
        /// The threads at these positions stand still. `isNews` is false while the same ones stood still before.
        case withhold(stalled: [Int], isNews: Bool)
    }

    private let limit: Int64
    private var stalled: [Int] = []

    /// - Parameter limit: nanoseconds that one operation may last.
    package init(limit: Int64) { self.limit = limit }

    /// A look at the threads; `durations` are the nanoseconds that their present operations have lasted.
    package mutating func ticked(_ durations: [Int64]) -> Action {
        let still = durations.indices.filter { durations[$0] >= limit }
        defer { stalled = still }
        return still.isEmpty ? .ping : .withhold(stalled: still, isNews: still != stalled)
    }
}
