import RelayBase
import RelayJobs

/// A route's pause in this process: what is left of it follows the monotonic clock, whatever the wall clock does.
struct PauseInForce: Sendable {
    /// As it is on disk.
    let pause: RoutePause
    /// Nil waits for an operator.
    let end: Instant?

    /// `wall` is `now` in milliseconds since 1970 UTC.
    init(_ pause: RoutePause, _ now: Instant, wall: Int64) {
        self.pause = pause
        end = pause.until.map { until in
            // A clock that was set back while nobody looked makes no pause longer than it was meant to be.
            let left = min(until.subtractingSaturating(wall), until.subtractingSaturating(pause.began))
            return now.advanced(by: .milliseconds(max(0, left)))
        }
    }

    /// With the end that the wall clock will show, when it was set since the pause began.
    func shown(_ now: Instant, wall: Int64) -> RoutePause {
        guard let end, let until = pause.until else { return pause }
        let seen = wall + now.duration(to: end).saturatedNanoseconds / 1_000_000
        guard abs(seen - until) >= 1_000 else { return pause }
        var shown = pause
        shown.until = seen
        return shown
    }

    func isOver(_ now: Instant) -> Bool { end.map { $0 <= now } ?? false }
}
