/// How fast an upstream may be sent to that has said there is too much (429): slower at once, and faster again as long as it
/// takes what it gets.
///
/// What counts is the rate of the last seconds, and a refusal once a second. An upstream that takes 100 a second and is
/// sent 1,000 is sent 700 after the first refusal, and after the second what it took in the last two seconds, 100; from
/// there every second 5 percent more, and after a refusal seven tenths. Nothing is held back any more when the rate is
/// twice what was refused last, or after a minute without a refusal.
struct PaceMachine: Sendable {
    /// What a refusal leaves of the rate.
    private static let decrease = 0.7
    /// What a second adds, of the rate that was refused.
    private static let increase = 0.05
    /// However often it refuses, it is asked once in two seconds.
    private static let least = 0.5
    /// A rate above that is no rate to hold anything back by.
    private static let most = 100_000.0
    private static let memory: Duration = .seconds(60)
    private static let patience: Duration = .seconds(1)
    /// Turns that may be taken at once, in seconds: how late a timer may be.
    private static let slack = 0.05

    /// Attempts of the last seconds, and those of them that were taken.
    private var sent = RollingCounts(over: .seconds(2))
    private var taken = RollingCounts(over: .seconds(2))
    private var first: Instant?
    private var limit: (refused: Double, begin: Double, since: Instant)?

    /// An attempt was sent.
    mutating func began(_ now: Instant) {
        sent.advance(to: now)
        // What is measured begins anew after a silence.
        if first == nil || sent.total.all == 0 { first = now }
        sent.add(now)
    }

    /// The upstream took one.
    mutating func took(_ now: Instant) { taken.add(now) }

    /// The upstream refused an attempt for its rate that began then.
    mutating func refused(began: Instant, _ now: Instant) {
        // Those that were under way together have one thing to say, and most limits count by the second.
        if let limit, began < limit.since.advanced(by: PaceMachine.patience) { return }
        if rate(now) == nil { limit = nil }
        let rate = min(PaceMachine.measured(&sent, since: first, now), rate(now) ?? .infinity)
        var begin = rate * PaceMachine.decrease
        // What it took while it refused others is what it takes.
        if limit != nil, let first, first.duration(to: now) >= PaceMachine.patience {
            begin = min(begin, PaceMachine.measured(&taken, since: first, now))
        }
        begin = max(PaceMachine.least, begin)
        limit = (begin / PaceMachine.decrease, begin, now)
    }

    /// What attempts are spaced by; nil while nothing is held back.
    func spacing(_ now: Instant) -> RateLimitMachine.Spacing? {
        guard let rate = rate(now) else { return nil }
        return .init(interval: Int64(1e9 / rate), burst: max(1, Int(rate * PaceMachine.slack)))
    }

    /// Attempts a second; nil while nothing is held back.
    func rate(_ now: Instant) -> Double? {
        guard let limit else { return nil }
        let age = limit.since.duration(to: now)
        guard age < PaceMachine.memory else { return nil }
        let seconds = Double(max(0, age.saturatedNanoseconds)) / 1e9
        let rate = limit.begin + PaceMachine.increase * max(limit.refused, 1) * seconds
        return rate < min(2 * max(limit.refused, 1), PaceMachine.most) ? rate : nil
    }

    /// How many there were a second.
    private static func measured(
        _ counts: inout RollingCounts,
        since first: Instant?,
        _ now: Instant
    ) -> Double {
        counts.advance(to: now)
        let age = first.map { Double($0.duration(to: now).saturatedNanoseconds) / 1e9 } ?? 0
        // What has only begun is not divided by two seconds.
        return Double(counts.total.all) / min(2, max(0.2, age))
    }
}
