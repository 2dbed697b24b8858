package import RelayBase

/// The outcomes of a route's requests since the daemon started.
package struct RouteFigures: Sendable {
    /// The outcomes that are counted one by one.
    package enum Count: Int, CaseIterable, Sendable {
        /// Answered by an upstream, as the route's rules understand success.
        case succeeded
        case fallback, placeholder, stale, failed
        /// Ended by the caller, who hung up or did not bring the whole body: neither a success nor a failure.
        case cancelled
        /// The head of an answer, whose content followed.
        case head
        /// Of `succeeded`, those that took more than one attempt.
        case recovered
        /// Failures that reached callers although the route never fails.
        case breaches
        /// Kept jobs that were accepted, that came to each end, and that were removed before they were over.
        case accepted, jobsSucceeded, jobsDead, jobsCancelled, jobsExpired, jobsDropped
    }

    private let counts: [UInt64]

    /// How long callers waited for their answers.
    package var answers = DurationCounts()
    /// Of kept jobs, from their acceptance to their end.
    package var lives = DurationCounts()
    /// How long retries were put off.
    package var delays = DurationCounts()
    /// How long requests waited for a permit, of those that had to.
    package var permitWaits = DurationCounts()
    /// Of each run of a kept job, from when it was due to its first attempt.
    package var starts = DurationCounts()
    /// Attempts that succeeded, and how long all took that were dialled, of every upstream there was since the start.
    package var succeededAttempts: UInt64 = 0
    package var attempts = DurationCounts()
    package let account: RouteAccount

    /// `sum` tells each of the counts.
    init(_ account: RouteAccount, _ sum: (Count) -> UInt64) {
        self.account = account
        counts = Count.allCases.map(sum)
    }

    package subscript(count: Count) -> UInt64 { counts[count.rawValue] }

    /// That are over.
    package var requests: UInt64 { self[.succeeded] + fallbacks + self[.failed] + self[.cancelled] }
    /// Answered by a stand-in.
    package var fallbacks: UInt64 { self[.fallback] + self[.placeholder] + self[.stale] }
}
