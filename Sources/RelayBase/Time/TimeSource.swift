/// The clocks.
public protocol ClockSource: AnyObject, Sendable {
    /// Monotonic; for every timeout, wait and measurement.
    func now() -> Instant

    /// Milliseconds since 1970-01-01 UTC; only for dates that others read or wrote.
    func wallMilliseconds() -> Int64
}

/// The clocks and the only way to wait.
public protocol TimeSource: ClockSource {
    /// Returns at `deadline`, or throws at once when the task is cancelled.
    func sleep(until deadline: Instant) async throws(CancellationError)

    /// Returns at `deadline`, which bounds something else that is awaited; throws at once when the task is cancelled.
    ///
    /// The same as `sleep` on every real clock. A virtual one that jumps to the end of each sleep does not jump for
    /// this.
    func expire(at deadline: Instant) async throws(CancellationError)
}

extension TimeSource {
    /// Sleeps.
    public func expire(at deadline: Instant) async throws(CancellationError) {
        try await sleep(until: deadline)
    }
}

extension ClockSource {
    /// Seconds since 1970-01-01 UTC.
    public func wallSeconds() -> Int64 { wallMilliseconds() / 1000 }
}

/// Where random numbers come from; a seeded one replays.
public protocol Entropy: AnyObject, Sendable {
    /// The next number, uniform in all of `UInt64`; never used for keys.
    func next() -> UInt64
}
