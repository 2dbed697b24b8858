package import RelayBase

/// The outcomes of a route's requests since the daemon started.
package struct RouteFigures: Sendable {
    /// Answered by an upstream, as the route's rules understand success.
    package var succeeded: UInt64 = 0
    package var fallback: UInt64 = 0
    package var placeholder: UInt64 = 0
    package var stale: UInt64 = 0
    package var failed: UInt64 = 0
    /// Ended by the caller, who hung up or did not bring the whole body: neither a success nor a failure.
    package var cancelled: UInt64 = 0
    /// Of `succeeded`, those that took more than one attempt.
    package var recovered: UInt64 = 0
    /// Failures that reached callers although the route never fails.
    package var breaches: UInt64 = 0

    /// Kept jobs that were accepted, and that came to each end.
    package var accepted: UInt64 = 0
    package var jobsSucceeded: UInt64 = 0
    package var jobsDead: UInt64 = 0
    package var jobsCancelled: UInt64 = 0
    package var jobsExpired: UInt64 = 0
    /// Removed before they were over.
    package var jobsDropped: UInt64 = 0

    /// How long callers waited for their answers.
    package var answers = DurationCounts()
    /// Of kept jobs, from their acceptance to their end.
    package var lives = DurationCounts()
    /// How long retries were put off.
    package var delays = DurationCounts()
    /// Attempts that succeeded, and how long all took that were dialled, of every upstream there was since the start.
    package var succeededAttempts: UInt64 = 0
    package var attempts = DurationCounts()
    package let account: RouteAccount

    init(_ account: RouteAccount) { self.account = account }

    /// That are over.
    package var requests: UInt64 { succeeded + fallbacks + failed + cancelled }
    /// Answered by a stand-in.
    package var fallbacks: UInt64 { fallback + placeholder + stale }
}
