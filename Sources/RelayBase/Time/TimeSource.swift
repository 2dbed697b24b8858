/// The monotonic clock and the wall clock.
public protocol ClockSource: AnyObject, Sendable {
    /// The time of the monotonic clock, for every timeout, wait and measurement.
    func now() -> Instant

    /// Milliseconds since 1970-01-01 UTC; only for dates that enter or leave the process.
    func wallMilliseconds() -> Int64
}

/// The clocks, and the only way in which the core waits.
public protocol TimeSource: ClockSource {
    /// Returns at `deadline`, or throws at once when the task is cancelled.
    func sleep(until deadline: Instant) async throws(CancellationError)

    /// Waits until `deadline` like `sleep`, as the time limit of other work; throws at once when the task is cancelled.
    ///
    /// A real clock treats both alike. A virtual clock that jumps ahead for `sleep` does not jump here, so that the other
    /// work can end first.
    func expire(at deadline: Instant) async throws(CancellationError)
}

extension TimeSource {
    /// Calls `sleep`, as a real clock does.
    public func expire(at deadline: Instant) async throws(CancellationError) {
        try await sleep(until: deadline)
    }
}

extension ClockSource {
    /// Seconds since 1970-01-01 UTC.
    public func wallSeconds() -> Int64 { wallMilliseconds() / 1000 }
}

/// A source of random numbers; one with a seed repeats its numbers.
public protocol Entropy: AnyObject, Sendable {
    /// The next number, uniform in all of `UInt64`; never used for secrets.
    func next() -> UInt64
}
