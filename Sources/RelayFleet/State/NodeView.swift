import RelayBase
import RelayJobs
import Synchronization

/// A node as every thread may see it at once.
final class NodeView: Sendable {
    private let state: Mutex<(facts: StoreFacts, refusal: StoreError?)>
    private let wantedKinds = Mutex("")
    /// Until when a first byte may be sent, by the node's clock.
    private let sendsUntil = Atomic<Int64>(.min)

    init() { state = Mutex((StoreFacts(), .away("use it", "it is not connected yet"))) }

    var facts: StoreFacts { state.withLock { $0.facts } }

    /// Why the store is not open; nil once it is.
    var refusal: StoreError? { state.withLock { $0.refusal } }

    func show(_ facts: StoreFacts, _ refusal: StoreError?) { state.withLock { $0 = (facts, refusal) } }

    func show(wanted kinds: String) { wantedKinds.withLock { $0 = kinds } }

    /// The kinds of events that somebody reads at another node.
    var wantedEvents: Set<EventKind> {
        let types = wantedKinds.withLock { $0 }
        guard !types.isEmpty else { return [] }
        let wanted = Set(types.utf8.split(separator: UInt8(ascii: ",")).map { String($0) })
        return Set(EventKind.asked.filter { wanted.contains($0.type) })
    }

    func show(_ lease: LeaseMachine) { sendsUntil.store(lease.sendsUntil, ordering: .relaxed) }

    func maySend(at now: Int64) -> Bool { now < sendsUntil.load(ordering: .relaxed) }
}
