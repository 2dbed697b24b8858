/// Decides how long the watchdog may go without a look.
///
/// Work under way is looked at as often as its limits are to be kept. At rest the pause still is shorter than the five
/// seconds within which a disk that stalls is told of, and leaves the manager's limit room for a ping that is late.
package struct WatchdogPace: Sendable, Equatable {
    private let short: Duration
    private let long: Duration

    /// - Parameter interval: the manager's limit; nil where there is none.
    package init(interval: Duration?) {
        let interval = interval ?? .seconds(60)
        short = min(.milliseconds(500), interval / 3)
        long = min(.seconds(4), interval * 2 / 5)
    }

    /// Until the next look; `durations` are the nanoseconds that the threads' present operations have lasted.
    package func pause(_ durations: [Int64], isIdle: Bool) -> Duration {
        isIdle && !durations.contains { $0 > 0 } ? long : short
    }
}
