/// Spaces the attempts of a route: `max_requests` in each `per`, and at most `burst` of them at once.
///
/// The generic cell rate algorithm: `due` is when the next attempt would be on time if none came in a burst. With 50 per
/// second and a burst of 100, 100 attempts go at once, then one every 20 ms.
struct RateLimitMachine: Sendable {
    private var due = Instant(nanoseconds: .min / 2)

    /// When an attempt may go; now is `now`.
    func next(_ settings: RateLimitSettings, _ now: Instant) -> Instant {
        let (allowance, overflow) = interval(settings).multipliedReportingOverflow(
            by: Int64(settings.burst - 1)
        )
        return max(now, due.advanced(by: .nanoseconds(overflow ? -.max : -allowance)))
    }

    /// An attempt goes at that moment, which `next` has named.
    mutating func take(_ settings: RateLimitSettings, at moment: Instant) {
        due = max(due, moment).advanced(by: .nanoseconds(interval(settings)))
    }

    /// How many attempts may go now, of as many as `most`.
    func room(_ settings: RateLimitSettings, _ now: Instant, atMost most: Int) -> Int {
        let interval = interval(settings)
        let owed = max(0, now.duration(to: due).saturatedNanoseconds)
        let free = Int64(settings.burst) - owed / interval - (owed % interval > 0 ? 1 : 0)
        return Int(max(0, min(free, Int64(most))))
    }

    /// Whether it is as if nothing had ever gone.
    func isIdle(_ now: Instant) -> Bool { due <= now }

    private func interval(_ settings: RateLimitSettings) -> Int64 {
        max(1, settings.per.saturatedNanoseconds / Int64(settings.maxRequests))
    }
}
