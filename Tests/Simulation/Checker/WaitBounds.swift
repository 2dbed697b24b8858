import RelayBase
import RelayRoute

/// The shortest and the longest wait a schedule allows, in nanoseconds.
struct WaitBounds {
    var least: Double
    var most: Double

    init(_ backoff: Backoff, retry: Int) {
        var delay: Double
        switch backoff.schedule {
        case .constant(let constant): delay = Double(constant.saturatedNanoseconds)
        case .list(let list):
            delay = list.isEmpty ? 0 : Double(list[min(retry, list.count) - 1].saturatedNanoseconds)
        case .exponential(let base, let multiplier, let maximum):
            delay = Double(base.saturatedNanoseconds)
            for _ in 1..<max(retry, 1) { delay *= multiplier }
            delay = min(delay, Double(maximum.saturatedNanoseconds))
        }
        most = delay
        switch backoff.jitter {
        case .none: least = delay
        case .full: least = 0
        case .equal: least = delay / 2
        case .percent(let percent):
            least = delay * (1 - Double(percent) / 100)
            most = delay * (1 + Double(percent) / 100)
        }
    }

    /// The least wait of a strategy: from the second attempt in a row on that was never sent, 50 to 100 ms, doubled
    /// from one to the next up to 5 to 10 s.
    init(unsentInARow count: Int) {
        most = count < 2 ? 0 : min(10_000_000_000, 100_000_000 * Double(1 << min(count - 2, 7)))
        least = most / 2
    }

    mutating func wait(atLeast asked: Int64) {
        least = max(least, Double(asked))
        most = max(most, Double(asked))
    }

    /// Whether a wait is inside, give or take the nanosecond a fraction is cut by.
    func allow(_ wait: Int64) -> Bool { wait >= 0 && Double(wait) >= least - 1 && Double(wait) <= most + 1 }
}
