/// Two sendings of one attempt, or one that may get a second: decides which of them is the attempt's end.
///
/// The first success is, or else the failure that came last, but for two cases in which it is the first sending's. There
/// is never a third sending.
struct HedgeRace: Sendable {
    enum Sending: Sendable, Hashable {
        case first, second

        var other: Sending { self == .first ? .second : .first }
    }

    /// How a sending ended, as far as that decides between the two.
    enum End: Sendable, Hashable {
        case success
        /// It has failed, and the upstream did nothing.
        case failure
        /// It has failed, and the upstream may have done what was asked.
        case doubt
        /// 409, by which an upstream refuses what it has begun under the same key.
        case conflict
        /// The caller went away.
        case cancelled
    }

    /// The consequence of the end of a sending.
    enum Action: Sendable, Hashable {
        /// It is the attempt's end; another that is under way is given up.
        case judge
        /// It has failed, and the other goes on alone.
        case goOn
        /// It came to its end after the attempt had.
        case late
    }

    private var isFirstUnderWay = true
    private var isSecondUnderWay = false
    private var mayAsk = true
    /// The end of the sending that has failed while the other goes on.
    private var failed: End?
    /// The sending that is the attempt's end; nil while there is none.
    private(set) var judged: Sending?

    /// The attempt is late.
    ///
    /// - Returns: whether leave is asked for a second sending: once, while the first is under way.
    mutating func isDue() -> Bool {
        guard mayAsk, isFirstUnderWay, judged == nil else { return false }
        mayAsk = false
        return true
    }

    /// The second sending has begun.
    mutating func secondBegan() { isSecondUnderWay = true }

    mutating func ended(_ sending: Sending, _ end: End) -> Action {
        if sending == .first { isFirstUnderWay = false } else { isSecondUnderWay = false }
        guard judged == nil else { return .late }
        let otherGoesOn = sending == .first ? isSecondUnderWay : isFirstUnderWay
        if end != .success, otherGoesOn {
            failed = end
            return .goOn
        }
        // Of two that their caller gave up the first has waited as long as the caller; that something has begun already tells
        // nothing of what became of it.
        judged =
            switch (failed, end) {
            case (.cancelled, .cancelled): .first
            case (.doubt, .conflict) where sending == .second: .first
            default: sending
            }
        return .judge
    }
}
