import RelayBase

/// How long to wait before the n-th retry.
public struct Backoff: Sendable {
    /// How the delay grows from retry to retry.
    ///
    /// A service refuses a policy with a negative delay, a list without entries, a multiplier outside 1 to 100, or a
    /// base above its maximum.
    public enum Schedule: Sendable, Equatable {
        /// `base × multiplier^(n−1)`, at most `maximum`.
        case exponential(base: Duration, multiplier: Double, maximum: Duration)
        /// The same each time.
        case constant(Duration)
        /// The n-th entry; the last one repeats.
        case list([Duration])
    }

    /// How randomness is mixed in (AWS Architecture Blog, "Exponential Backoff and Jitter", 2015).
    public enum Jitter: Sendable, Equatable {
        /// The delay as it is.
        case none
        /// Uniform in `0 … delay`.
        case full
        /// `delay/2` and uniform in `0 … delay/2` on top.
        case equal
        /// Uniform in `delay × (1 ± percent/100)`; 0…100.
        case percent(Int)
    }

    /// How the delay grows.
    public var schedule: Schedule
    /// How randomness is mixed in.
    public var jitter: Jitter

    /// 100 ms, 200 ms, 400 ms … 10 s with full jitter.
    public init(
        schedule: Schedule = .exponential(base: .milliseconds(100), multiplier: 2, maximum: .seconds(10)),
        jitter: Jitter = .full
    ) {
        self.schedule = schedule
        self.jitter = jitter
    }

    /// The delay before jitter; never negative, never more than the schedule's largest.
    ///
    /// `retry` is 1 for the wait between the first attempt and the second.
    public func delay(beforeRetry retry: Int) -> Duration {
        switch schedule {
        case .constant(let delay): return max(delay, .zero)
        case .list(let delays):
            guard !delays.isEmpty else { return .zero }
            return max(delays[min(max(retry, 1), delays.count) - 1], .zero)
        case .exponential(let base, let multiplier, let maximum):
            let factor = power(multiplier, max(retry, 1) - 1)
            let nanoseconds = Double(base.saturatedNanoseconds) * factor
            // Not a number, or past the largest.
            guard nanoseconds < Double(maximum.saturatedNanoseconds) else { return max(maximum, .zero) }
            return .nanoseconds(Int64(max(nanoseconds, 0)))
        }
    }

    /// The wait, drawn from `random`, a number uniform in all of `UInt64`.
    public func wait(beforeRetry retry: Int, random: UInt64) -> Duration {
        let nanoseconds = delay(beforeRetry: retry).saturatedNanoseconds
        guard nanoseconds > 0 else { return .zero }
        // 53 bits make every fraction in 0 ..< 1 exact.
        let fraction = Double(random >> 11) * 0x1p-53
        let delay = Double(nanoseconds)
        let jittered: Double =
            switch jitter {
            case .none: delay
            case .full: delay * fraction
            case .equal: delay / 2 + delay / 2 * fraction
            case .percent(let percent): delay * (1 + Double(percent) / 100 * (2 * fraction - 1))
            }
        return .nanoseconds(Int64(min(max(jittered, 0), 0x1p62)))
    }
}

/// `base` to a whole power that is not negative, by squaring: at most 63 steps.
private func power(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    var square = base
    var rest = exponent
    while rest > 0 {
        if rest & 1 == 1 { result *= square }
        square *= square
        rest >>= 1
    }
    return result
}
