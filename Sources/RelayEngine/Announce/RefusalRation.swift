/// How many refused requests the feed of events takes up, so that no caller drives what others wait for out of it.
///
/// | in a minute of the wall clock | are told |
/// |---|---|
/// | of one user | 5 |
/// | of all together | 50 |
///
/// The metrics count the others.
struct RefusalRation {
    private static let ofUser = 5
    private static let ofAll = 50

    private var minute = Int64.min
    private var counts: [UInt32?: Int] = [:]
    private var total = 0

    /// Whether one more is told; `wall` is the present, in milliseconds since 1970 UTC.
    mutating func takes(_ user: UInt32?, _ wall: Int64) -> Bool {
        if wall / 60_000 != minute { (minute, counts, total) = (wall / 60_000, [:], 0) }
        guard total < Self.ofAll, counts[user, default: 0] < Self.ofUser else { return false }
        counts[user, default: 0] += 1
        total += 1
        return true
    }
}
