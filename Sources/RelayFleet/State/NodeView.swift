import RelayBase
import RelayJobs
import Synchronization

/// A node as every thread may see it at once.
final class NodeView: Sendable {
    private let state: Mutex<(facts: StoreFacts, refusal: StoreError?)>
    private let wantedKinds = Mutex("")
    /// The generation whose lease it is, and until when a first byte may be sent, by the node's clock.
    private let generation = Atomic<Int64>(0)
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

    func show(_ lease: LeaseMachine, of generation: Int64) {
        self.generation.store(generation, ordering: .relaxed)
        // A thread that sees this lease sees whose it is.
        sendsUntil.store(lease.sendsUntil, ordering: .releasing)
    }

    /// The generation that made the claim of this number.
    private static func generation(of token: UInt64) -> Int64 { Int64(token >> FleetTokens.bits) }

    /// A claim of an earlier generation is not this lease's: others may have taken it over, though the node has a lease again.
    func maySend(under token: UInt64, at now: Int64) -> Bool {
        now < sendsUntil.load(ordering: .acquiring)
            && Self.generation(of: token) == generation.load(ordering: .relaxed)
    }
}

/// The numbers of claims.
enum FleetTokens {
    /// The bits of a number below those of its generation.
    ///
    /// Claims take numbers for more jobs than they find: ten thousand a second last for 300 days without a restart, and there
    /// are thirty million starts.
    static let bits = 38
}
