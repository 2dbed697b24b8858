package import RelayBase
package import RelayJobs

extension JobStore {
    /// Claims for attempts to the upstream "one".
    package func claim(_ route: String, limit: Int, at now: JobMoment) async throws(StoreError) -> ClaimBatch
    {
        try await claim(route, limit: limit, upstream: "one", at: now)
    }

    /// When the first waiting job of a route is due of whose jobs none is due now.
    package func nextDue(_ route: String, at now: JobMoment) async throws(StoreError) -> Int64? {
        try await claim(route, limit: 1, at: now).nextDue
    }

    package func apply(
        _ action: JobAction,
        to filter: JobFilter,
        limit: Int,
        after cursor: JobCursor? = nil,
        spacing: JobSpacing? = nil,
        dryRun: Bool = false,
        by origin: ActionOrigin = .user(0, isBulk: true),
        at now: JobMoment
    ) async throws(StoreError) -> ActionReport {
        var order = ActionOrder(action, filter, limit: limit, by: origin)
        order.cursor = cursor
        order.spacing = spacing
        order.isDryRun = dryRun
        return try await apply(order, at: now)
    }
}

extension JobStateMachine {
    /// Claims for an attempt to the upstream "one".
    package mutating func claim(token: UInt64, now: Int64) -> Bool {
        claim(token: token, BegunAttempt(upstream: "one", beganAt: now), now: now)
    }
}
