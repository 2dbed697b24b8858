package import RelayBase
package import RelayCore
package import RelayRoute

/// A request the gate let in: everything decided before its body is read.
package final class Admission: Sendable {
    package let entry: Snapshot.Entry
    package let snapshot: Snapshot
    package let context: JobContext
    /// End-to-end fields, as they go on to the upstream.
    package let fields: HeaderFields
    /// The caller whose turns it has to wait for where its route is full.
    package let caller: FairQueue.Caller
    /// RFC 9218 urgency: 0 first, 7 last.
    let urgency: UInt8
    /// Whether the job is kept before anything is sent.
    package let isDurable: Bool
    /// Whether it is answered when it is done, and a rule may keep it then.
    package let mayBeKept: Bool
    /// The options asked for its keeping, where it may come to that; read in place, since a copy retains all of them.
    package let keeping: DurableOptions
    /// The idempotency key, which nobody else may use until the request is answered.
    let key: IdempotencyLocks.Lock?

    init(
        _ entry: Snapshot.Entry,
        _ snapshot: Snapshot,
        _ context: JobContext,
        _ terms: __shared RequestTerms,
        isDurable: Bool = false,
        keeping: DurableOptions? = nil,
        key: IdempotencyLocks.Lock? = nil
    ) {
        (self.entry, self.snapshot, self.context) = (entry, snapshot, context)
        (self.isDurable, self.key) = (isDurable, key)
        mayBeKept = !isDurable && keeping != nil
        self.keeping = keeping ?? DurableOptions()
        fields = terms.forwarded
        urgency = terms.durable.priority
        let user = snapshot.settings.callers.isEnabled ? context.client?.user : nil
        caller = user.map { .user($0) } ?? .unknown
    }

    /// It counts among what its caller has under way as long as it is there.
    deinit { context.share?.end() }

    /// From now on the store knows the idempotency key: others with it need not wait for the answer.
    package func releaseIdempotencyKey() { key?.release() }

    /// The request to the core, with the body now at hand.
    package func request(_ body: Body) -> HTTPRequest {
        HTTPRequest(method: context.method, target: context.target, fields: fields, body: body)
    }

    package var id: JobID { context.id }

    /// Whether it asks for an answer without an end, as one user among others.
    var wantsStream: Bool {
        guard snapshot.settings.callers.isEnabled, let accept = fields[.accept] else { return false }
        return accept.lowercased().contains(text: MediaType.eventStream)
    }

    package var route: Route { entry.route }
    package var state: RouteState { entry.state }

    /// When nothing more is waited for, of a request whose head came then and whose body moved for so long.
    package func deadline(since head: Instant, moved: Duration) -> Instant {
        let patience = head.advanced(by: moved).advanced(by: route.policy.timeouts.total)
        return context.options.timeout.map { min(head.advanced(by: $0), patience) } ?? patience
    }
}
