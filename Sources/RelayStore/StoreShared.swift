import RelayCore
import Synchronization

/// What the store's threads and its callers all see.
final class StoreShared: Sendable {
    private struct State {
        var timeline: JobTimeline
        var facts = StoreFacts()
    }

    private let state: Mutex<State>
    /// Up to this job each may be what brought the process before down; zero when that ended in order.
    let suspects: Int64

    init(timeline: JobTimeline, maxBytes: UInt64, suspects: Int64) {
        self.suspects = suspects
        var state = State(timeline: timeline)
        state.facts.maxBytes = maxBytes
        self.state = Mutex(state)
    }

    /// As of the last transaction.
    var timeline: JobTimeline { state.withLock { $0.timeline } }
    var facts: StoreFacts { state.withLock { $0.facts } }

    func setMaxBytes(_ bytes: UInt64) { state.withLock { $0.facts.maxBytes = bytes } }

    func countCorrupt() { state.withLock { $0.facts.corruptRecords += 1 } }

    func update(_ timeline: JobTimeline, _ change: (inout StoreFacts) -> Void) {
        state.withLock { state in
            state.timeline = timeline
            change(&state.facts)
        }
    }
}
