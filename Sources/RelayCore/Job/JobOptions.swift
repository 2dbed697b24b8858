package import RelayBase
package import RelayRoute

/// The caller's wishes for this one job; only ever tighter than the route.
package struct JobOptions: Sendable {
    /// Bounds all of the job's time up to the head of a streamed answer, also that in which content moves, which
    /// `timeouts.total` does not count.
    package var timeout: Duration?
    /// Replaces `timeouts.attempt` when shorter.
    package var attemptTimeout: Duration?
    /// Replaces `max_attempts` when lower.
    package var maxAttempts: Int?
    /// False keeps `failover` and `respond` rules from acting.
    package var allowsFallback = true
    /// The treatment of it while the network is constrained, where that sends less than the route.
    package var constrained = ConstrainedUse.send
    /// Its lighter form; nil leaves that to the route.
    @Rare package var lightRequest: LightRequest?
    /// Whether the request carries a key that makes repeating it safe.
    package var hasIdempotencyKey = false
    /// Whether the whole answer is wanted in memory: it is then collected before it is judged.
    package var collectsAnswer = false
    /// The caller's names for the job, as `key=value`; kept with its record.
    package var labels: [String] = []

    package init() {}
}
