/// A node's lease: whether it may send, and whether it may take over what a dead node had.
///
/// Times are nanoseconds on the node's own clock, which counts while the machine sleeps (CLOCK_BOOTTIME). The lease
/// counts from before its renewal was sent, so that by the database's clock it is never over before it is over here.
struct LeaseMachine: Equatable, Sendable {
    let lease: Int64
    /// When the last renewal was sent that succeeded; nil before the first.
    private(set) var renewedAt: Int64?
    /// Since when there has been no gap between two leases, and no jump of the database's clock; nil while there is none.
    private(set) var unbrokenSince: Int64?

    init(lease: Int64) { self.lease = lease }

    /// A renewal sent at `sent` has succeeded.
    mutating func renewed(sent: Int64) {
        guard sent >= renewedAt ?? .min else { return }
        if !(renewedAt.map { sent < $0 + lease } ?? false) { unbrokenSince = sent }
        renewedAt = sent
    }

    /// The database's clock has jumped ahead, by which the leases of nodes that live are over: they are renewed within one.
    mutating func jumped(at now: Int64) { if unbrokenSince != nil { unbrokenSince = now } }

    /// When the next renewal is to be sent.
    func next(after now: Int64) -> Int64 { renewedAt.map { $0 + lease / 3 } ?? now }

    /// Until when a first byte may be sent: more than a tenth of the lease is left then.
    var sendsUntil: Int64 { renewedAt.map { $0 + lease - lease / 10 } ?? .min }

    func maySend(at now: Int64) -> Bool { now < sendsUntil }

    /// Whether jobs of a node whose lease is over may be taken: after an outage every living node has a whole lease to
    /// renew its own.
    func mayTakeOver(at now: Int64) -> Bool {
        guard let unbrokenSince, maySend(at: now) else { return false }
        return now - unbrokenSince >= lease
    }
}
