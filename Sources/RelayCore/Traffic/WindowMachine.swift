import RelayBase
import RelayRoute

/// How many attempts may be under way with an upstream, by how it takes them: additive increase, multiplicative decrease.
///
/// It begins with all that the route allows, so that nothing is held back before anything is wrong. It shrinks at most once
/// for the attempts that were under way together: to half the first time and on a timeout, to nine tenths on an answer that
/// says there is too much. It grows only when it was full: by one for each windowful, and by one for each
/// success up to half of what it was at the last success before it shrank. After an outage it begins with 10, or twice the
/// attempts that the upstream answered all the while. From 256, an upstream that takes 50 and refuses the rest sees 128,
/// 115, 103, 93, 84, 75, 68, 61, 55, 49, and from there between 45 and 51.
///
/// It shrinks to nine tenths too, and never below where it begins after an outage, when a full windowful took longer on
/// the average than those before it, by two and a half deviations and by half (the mean and the deviation are smoothed
/// with 0.4, as in Vector's adaptive request concurrency): 20 ms usually, 31 ms now.
struct WindowMachine: Sendable {
    /// An attempt's word on the load.
    enum Signal: Hashable, Sendable {
        case fine
        /// The upstream said that there is too much.
        case tooMuch
        /// It did not answer in time, or not at all.
        case lost
        case nothing
    }

    private var width: Double { didSet { size = Int(width) } }
    /// Attempts that may be under way.
    private(set) var size: Int
    /// The width at the last success.
    private var healthy: Double
    /// Up to here it grows with every success.
    private var threshold = 0.0
    private var hasShrunk = false
    private var latency = LatencyMachine()
    private var lastShrunk = Instant(nanoseconds: .min / 2)
    private var limit: Int

    init(_ settings: WindowSettings, limit: Int) {
        self.limit = limit
        size = min(limit, settings.initial ?? limit)
        width = Double(size)
        healthy = width
    }

    /// The route allows so many from now on: what was all that it allowed is so again.
    mutating func configured(limit: Int) {
        width = width >= Double(self.limit) ? Double(limit) : min(width, Double(limit))
        self.limit = limit
    }

    /// Takes note of a success at its full width, unless it ends the windowful: that has to be told to `ended`.
    mutating func noted(nanoseconds: Int64, wasFull: Bool) -> Bool {
        guard !latency.isAboutToEnd(cohort: size) else { return false }
        _ = latency.ended(nanoseconds: nanoseconds, wasFull: wasFull, cohort: size)
        return true
    }

    /// An attempt ended that began then; `wasFull` tells whether all that might were under way when it did.
    ///
    /// Slowness shrinks it no further than to `floor`.
    mutating func ended(
        _ word: Signal,
        began: Instant,
        wasFull: Bool,
        floor: Int = 10,
        _ now: Instant
    ) {
        switch word {
        case .nothing: break
        case .fine:
            let isSlow = latency.ended(
                nanoseconds: now.nanoseconds &- began.nanoseconds,
                wasFull: wasFull,
                cohort: size
            )
            if isSlow, width > Double(floor) { return shrink(0.9, began, now, floor) }
            defer { healthy = width }
            guard wasFull, width < Double(limit) else { return }
            width = min(Double(limit), width + (width < threshold ? 1 : 1 / width))
        case .tooMuch: shrink(hasShrunk ? 0.9 : 0.5, began, now)
        case .lost: shrink(0.5, began, now)
        }
    }

    /// The upstream is back after an outage: the window begins anew, not below the attempts that the upstream bears, and
    /// grows fast up to half of the most before the first of several outages.
    mutating func restart(_ settings: WindowSettings, bearing underWay: Int = 0) {
        threshold = max(1, threshold, healthy / 2)
        width = min(healthy, Double(max(settings.afterOutage, underWay)))
        latency = LatencyMachine()
    }

    /// How long an attempt usually takes; nil before that is known.
    var usualLatency: Duration? { latency.usual }

    private mutating func shrink(_ factor: Double, _ began: Instant, _ now: Instant, _ floor: Int = 1) {
        guard lastShrunk <= began else { return }
        lastShrunk = now
        hasShrunk = true
        width = max(Double(floor), width * factor)
        threshold = healthy / 2
    }
}

extension WindowSettings {
    var initialWidth: Int { isEnabled && !reports ? initial ?? .max : .max }
}
