import RelayBase
import RelayRoute

/// How fast an upstream may be sent to that has said there is too much (429): slower at once, and faster again as long as it
/// takes what it gets.
///
/// The rate of the last seconds counts, and a refusal once a second. An upstream that takes 100 a second and is
/// sent 1,000 is sent 700 after the first refusal, and after the second what it took in the last two seconds, 100; from
/// there every second 5 percent more, and after a refusal seven tenths. One that refuses everything is asked once in two
/// seconds; when it takes what it gets again, it is sent twice as much every second up to seven tenths of what it took
/// before, and from there 5 percent of that more. Nothing is held back any more when the rate is twice what was refused
/// last and what it took before, or after a minute without a refusal.
///
/// It speaks of the kind of request that was refused, and of all of them once a second kind is.
struct PaceMachine: Sendable {
    /// The part of the rate that a refusal leaves.
    private static let decrease = 0.7
    /// The part that a second adds, of the rate that was refused or taken before.
    private static let increase = 0.05
    /// The part left of the rate it took before, when it refuses again and takes less.
    private static let fading = 0.9
    /// However often it refuses, it is asked once in two seconds.
    private static let least = 0.5
    /// A rate above that is no rate to hold anything back by.
    private static let most = 100_000.0
    private static let memory: Duration = .seconds(60)
    private static let timeout: Duration = .seconds(1)
    /// Turns that may be taken at once, in seconds: how late a timer may be.
    private static let slack = 0.05

    /// Attempts of the last seconds, and those of them that were taken.
    private var sent = RollingCounts(over: .seconds(2))
    private var taken = RollingCounts(over: .seconds(2))
    private var first: Instant?
    private var limit: Limit?
    /// The kind of request that is spaced; nil while it is all of them.
    private(set) var scope: RequestClass.Asked?

    private struct Limit: Sendable {
        var refused: Double
        /// The rate the upstream took before it refused; zero where it never took anything.
        var taken: Double
        var begin: Double
        var since: Instant

        /// Up to there the rate doubles every second.
        var threshold: Double { max(begin, taken * PaceMachine.decrease) }
        var reference: Double { max(refused, taken, 1) }

        func rate(after seconds: Double) -> Double {
            var (rate, left) = (begin, seconds)
            while rate < threshold, left > 0 {
                let growth = min(1, left, threshold / rate - 1)
                rate *= 1 + growth
                // A whole second of doubling, or what the threshold leaves of one.
                left -= growth
            }
            return rate + max(0, left) * PaceMachine.increase * reference
        }
    }

    /// An attempt was sent.
    mutating func began(_ now: Instant, of asked: RequestClass.Asked? = nil) {
        guard concerns(asked) else { return }
        sent.advance(to: now)
        // The measurement begins anew after a silence.
        if first == nil || sent.total.all == 0 { first = now }
        sent.add(now)
    }

    /// The upstream took one.
    mutating func took(_ now: Instant, of asked: RequestClass.Asked? = nil) {
        if concerns(asked) { taken.add(now) }
    }

    /// The upstream refused an attempt for its rate that began then.
    mutating func refused(began: Instant, _ now: Instant, of asked: RequestClass.Asked? = nil) {
        if rate(now) == nil {
            limit = nil
            scope = asked
        } else if let scope, scope != asked {
            // The second kind that is told so.
            self.scope = nil
        }
        // Those that were under way together have one thing to say, and most limits count by the second.
        if let limit, began < limit.since.advanced(by: PaceMachine.timeout) { return }
        let rate = min(PaceMachine.measured(&sent, since: first, now), rate(now) ?? .infinity)
        // A burst that is taken is no rate.
        let took = PaceMachine.measured(&taken, since: first, least: 1, now)
        var begin = rate * PaceMachine.decrease
        // The rate it took while it refused others is the one it takes.
        if limit != nil, let first, first.duration(to: now) >= PaceMachine.timeout {
            begin = min(begin, took)
        }
        begin = max(PaceMachine.least, begin)
        // While it refuses everything it says nothing of how much it would take.
        let before = limit.map { took > 0 ? max(took, $0.taken * PaceMachine.fading) : $0.taken } ?? took
        limit = Limit(refused: begin / PaceMachine.decrease, taken: before, begin: begin, since: now)
    }

    /// Whether such a request is spaced.
    func concerns(_ asked: RequestClass.Asked?) -> Bool { scope.map { $0 == asked } ?? true }

    /// Whether it is one kind of request.
    var isApart: Bool { scope != nil }

    /// Everything goes again.
    mutating func clear() { (limit, scope) = (nil, nil) }

    /// The spacing of attempts; nil while nothing is held back.
    func spacing(_ now: Instant) -> RateSpacing? {
        guard let rate = rate(now) else { return nil }
        return .init(interval: Int64(1e9 / rate), burst: max(1, Int(rate * PaceMachine.slack)))
    }

    /// Attempts a second; nil while nothing is held back.
    func rate(_ now: Instant) -> Double? {
        guard let limit else { return nil }
        let age = limit.since.duration(to: now)
        guard age < PaceMachine.memory else { return nil }
        let seconds = Double(max(0, age.saturatedNanoseconds)) / 1e9
        let rate = limit.rate(after: seconds)
        return rate < min(2 * limit.reference, PaceMachine.most) ? rate : nil
    }

    /// How many there were a second.
    private static func measured(
        _ counts: inout RollingCounts,
        since first: Instant?,
        least: Double = 0.2,
        _ now: Instant
    ) -> Double {
        counts.advance(to: now)
        let age = first.map { Double($0.duration(to: now).saturatedNanoseconds) / 1e9 } ?? 0
        // A measurement that has only begun is not divided by two seconds.
        return Double(counts.total.all) / min(2, max(least, age))
    }
}
