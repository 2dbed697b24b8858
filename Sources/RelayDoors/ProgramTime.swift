public import RelayBase

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The machine's clocks, by the standard library alone.
public final class ProgramTime: TimeSource {
    private let beginning = ContinuousClock.now

    /// The machine's clocks.
    public init() {}

    /// The time since this was made.
    public func now() -> Instant {
        Instant(nanoseconds: 0).advanced(by: beginning.duration(to: ContinuousClock.now))
    }

    /// Milliseconds since 1970-01-01 UTC.
    public func wallMilliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Returns at `deadline`, or throws at once when the task is cancelled.
    public func sleep(until deadline: Instant) async throws(CancellationError) {
        do {
            try await Task.sleep(for: max(.zero, now().duration(to: deadline)), tolerance: .zero)
        } catch {
            throw CancellationError()
        }
    }
}

/// Random numbers for jitter and job ids, by the standard library alone.
public final class ProgramEntropy: Entropy {
    /// The system's own generator.
    public init() {}

    /// The next number.
    public func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
