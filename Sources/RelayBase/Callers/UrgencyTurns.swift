/// The turns of one caller's urgencies: each has twice those of the next lower one, whatever waits of any.
///
/// The one whose turn is lowest comes next. One that has begun to wait takes its first turn from the last one on, so that
/// coming and going wins nothing; one that waits is passed by others and not by time, so that none waits for ever.
package struct UrgencyTurns: Sendable {
    /// That of the urgency that came last.
    private var now: UInt64 = 0
    /// Those that waited at the last turn, a bit each.
    private var known: UInt8 = 0
    private var turns: InlineArray<8, UInt64> = .init(repeating: 0)

    package init() {}

    /// Which of those that wait, a bit each, comes next; the most urgent where it is the turn of several.
    package func next(_ waiting: UInt8) -> Int {
        var (first, lowest) = (0, UInt64.max)
        for urgency in 0..<8 where waiting & 1 << urgency != 0 && turn(urgency) < lowest {
            (first, lowest) = (urgency, turn(urgency))
        }
        return first
    }

    /// That one has come, while those waited.
    package mutating func took(_ urgency: Int, _ waiting: UInt8) {
        for other in 0..<8 where waiting & 1 << other != 0 { turns[other] = turn(other) }
        known = waiting
        now = turns[urgency]
        // One with twice the turns has half the step.
        turns[urgency] += 1 << UInt64(urgency)
    }

    private func turn(_ urgency: Int) -> UInt64 {
        known & 1 << urgency != 0 ? turns[urgency] : now + 1 << UInt64(urgency)
    }
}
