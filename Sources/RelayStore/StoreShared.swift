import RelayCore
import RelayPosix
import Synchronization

/// What the store's threads and its callers all see.
final class StoreShared: Sendable {
    private struct State {
        var timeline: JobTimeline
        var facts = StoreFacts()
        /// Accepted when nobody waited for them any more.
        var abandoned: [JobID] = []
    }

    private let state: Mutex<State>
    /// Up to this job each may be what brought the process before down; zero when that ended in order.
    let suspects: Int64
    /// Of the writer: a transaction with all that belongs to it is an operation.
    let activity = Activity("store")

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

    /// The job is on disk and is not to be there.
    func abandon(_ id: JobID) { state.withLock { $0.abandoned.append(id) } }

    /// The jobs that were abandoned since the last call.
    func takeAbandoned() -> [JobID] {
        state.withLock { state in
            defer { state.abandoned = [] }
            return state.abandoned
        }
    }

    func countCorrupt() { state.withLock { $0.facts.corruptRecords += 1 } }

    func update(_ timeline: JobTimeline, _ change: (inout StoreFacts) -> Void) {
        state.withLock { state in
            state.timeline = timeline
            change(&state.facts)
        }
    }
}
