import RelayBase
import RelayJobs
import Synchronization

/// A node as every thread may see it at once.
final class NodeView: Sendable {
    private let state: Mutex<(facts: StoreFacts, refusal: StoreError?)>
    /// Until when a first byte may be sent, by the node's clock.
    private let sendsUntil = Atomic<Int64>(.min)

    init() { state = Mutex((StoreFacts(), .away("use it", "it is not connected yet"))) }

    var facts: StoreFacts { state.withLock { $0.facts } }

    /// Why the store is not open; nil once it is.
    var refusal: StoreError? { state.withLock { $0.refusal } }

    func show(_ facts: StoreFacts, _ refusal: StoreError?) { state.withLock { $0 = (facts, refusal) } }

    func show(_ lease: LeaseMachine) { sendsUntil.store(lease.sendsUntil, ordering: .relaxed) }

    func maySend(at now: Int64) -> Bool { now < sendsUntil.load(ordering: .relaxed) }
}
