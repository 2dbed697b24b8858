/// How long an upstream usually takes to answer: four times what 99 of 100 of its last answers took, 250 ms at least.
///
/// Before it has answered 20 times it is what the route gives an attempt, 2 s at most. Only answers are counted, so that a
/// caller that gives up sooner teaches nothing.
struct UsualTime: Sendable {
    /// Answers whose time had that many bits, in units of 65,536 ns.
    private var counts = InlineArray<24, UInt16>(repeating: 0)
    private var total: UInt16 = 0

    private static let least: Duration = .milliseconds(250)
    private static let enough: UInt16 = 20
    private static let memory: UInt16 = 400

    /// An answer was there after that time.
    mutating func answered(nanoseconds: Int64) {
        let bits = 64 - (UInt64(bitPattern: max(0, nanoseconds)) >> 16).leadingZeroBitCount
        counts[min(bits, 23)] &+= 1
        total &+= 1
        if total >= UsualTime.memory { fade() }
    }

    /// The time; `attempt` is what the route gives one.
    func time(attempt: Duration) -> Duration {
        guard total >= UsualTime.enough else { return UsualTime.unknown(attempt: attempt) }
        var above = Int(total) / 100
        for bits in stride(from: 23, through: 0, by: -1) {
            if Int(counts[bits]) > above {
                // The middle of what has so many bits.
                let time = Duration.nanoseconds(Int64(3) << Int64(bits + 14))
                return max(UsualTime.least, time * 4)
            }
            above -= Int(counts[bits])
        }
        return UsualTime.least
    }

    /// The time while little is known.
    static func unknown(attempt: Duration) -> Duration { min(attempt, .seconds(2)) }

    private mutating func fade() {
        total = 0
        for bits in 0..<24 {
            counts[bits] /= 2
            total += counts[bits]
        }
    }
}
