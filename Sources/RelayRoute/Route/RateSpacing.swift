import RelayBase

/// The spacing of attempts.
package struct RateSpacing: Sendable, Equatable {
    /// Nanoseconds from one turn to the next.
    package var interval: Int64
    /// Turns that may be taken at once.
    package var burst: Int

    package init(interval: Int64, burst: Int) {
        self.interval = interval
        self.burst = burst
    }

    /// How far beyond the next attempt the one that would be on time may be, in nanoseconds.
    package var allowance: Int64 { times(burst - 1) }

    /// Nanoseconds of so many intervals.
    package func times(_ count: Int) -> Int64 {
        let (all, overflow) = interval.multipliedReportingOverflow(by: Int64(count))
        return overflow ? .max : all
    }
}

extension RateLimitSettings {
    package var spacing: RateSpacing {
        // A program may have set what the configuration refuses.
        .init(interval: max(1, per.saturatedNanoseconds / Int64(max(1, maxRequests))), burst: max(1, burst))
    }
}
