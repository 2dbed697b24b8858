/// How many attempts may be under way with an upstream, by how it takes them: additive increase, multiplicative decrease.
///
/// It begins with all that the route allows, so that nothing is held back before anything is wrong. It shrinks at most once
/// for the attempts that were under way together: to half the first time and on a timeout, to nine tenths on an answer that
/// says there is too much. It grows only when it was full: by one for each windowful, and after an outage by one for each
/// success, up to half of what it was. From 256, an upstream that takes 50 and refuses the rest sees 128, 115, 103, 93,
/// 84, 75, 68, 61, 55, 49, and from there between 45 and 51.
struct WindowMachine: Sendable {
    /// What an attempt says of the load.
    enum Word: Hashable, Sendable {
        case fine
        /// The upstream said that there is too much.
        case tooMuch
        /// It did not answer in time, or not at all.
        case lost
        case nothing
    }

    private var width: Double
    /// Up to here it grows with every success.
    private var threshold = 0.0
    private var hasShrunk = false
    private var lastShrunk = Instant(nanoseconds: .min / 2)

    init(_ settings: WindowSettings, limit: Int) { width = Double(min(limit, settings.initial ?? limit)) }

    /// Attempts that may be under way.
    var size: Int { Int(width) }

    /// An attempt ended that began then; `wasFull` tells whether all that might were under way when it did.
    mutating func ended(_ word: Word, began: Instant, wasFull: Bool, limit: Int, _ now: Instant) {
        switch word {
        case .nothing: break
        case .fine:
            guard wasFull, width < Double(limit) else { return }
            width = min(Double(limit), width + (width < threshold ? 1 : 1 / width))
        case .tooMuch: shrink(hasShrunk ? 0.9 : 0.5, began, now)
        case .lost: shrink(0.5, began, now)
        }
    }

    /// The upstream is back after an outage: from the beginning, as fast as half of what it was.
    mutating func restart(_ settings: WindowSettings) {
        threshold = max(1, width / 2)
        width = min(width, Double(settings.afterOutage))
    }

    private mutating func shrink(_ factor: Double, _ began: Instant, _ now: Instant) {
        guard lastShrunk <= began else { return }
        lastShrunk = now
        hasShrunk = true
        width = max(1, width * factor)
        threshold = 0
    }
}
