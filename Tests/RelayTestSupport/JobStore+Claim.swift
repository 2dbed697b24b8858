package import RelayCore

extension JobStore {
    /// Claims for attempts to the upstream "one".
    package func claim(
        _ route: String,
        limit: Int,
        lease: Duration,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        try await claim(route, limit: limit, lease: lease, upstream: "one", at: now)
    }
}

extension JobStateMachine {
    /// Claims for an attempt to the upstream "one".
    package mutating func claim(token: UInt64, now: Int64) -> Bool {
        claim(token: token, BegunAttempt(upstream: "one", beganAt: now), now: now)
    }
}
