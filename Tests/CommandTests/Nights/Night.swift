import RelayBase
import RelayTestSupport
import RelayTesting

/// A night of a route: when its jobs come, and what its upstream does at each moment, drawn from a seed.
struct Night: Sendable {
    /// Something that is wrong with the upstream for a while.
    enum Trouble: Sendable {
        case answers(Status)
        case refuses
        case isSilent
        /// So many attempts of a hundred get that answer.
        case answersSome(Status, percent: Int)
        /// Answers take so many milliseconds.
        case isSlow(Int)
    }

    struct Span: Sendable {
        let moments: Range<Int64>
        let trouble: Trouble
    }

    /// One job's request.
    struct Caller: Sendable {
        /// Milliseconds since the night began.
        let comes: Int64
        /// The answer that the upstream gives to this request alone, when it is well; nil takes it.
        let refusal: Status?
    }

    /// Milliseconds since 1970 UTC at which it begins.
    static let begins: Int64 = 1_800_000_000_000
    /// Milliseconds from its beginning to its end.
    let length: Int64

    let seed: UInt64
    private(set) var callers: [Caller] = []
    private(set) var spans: [Span] = []

    init(seed: UInt64, length: Int64 = 90_000) {
        (self.seed, self.length) = (seed, length)
        var draw = SplitMix64(seed: seed &* 0x9FB2_1C65_1E98_DF25 &+ 1)
        // Twelve jobs a second on average, until a while before its end.
        var at: Int64 = 0
        while at < length - 10_000 {
            at += Int64(draw.number(1...166))
            let refusal: Status? = draw.chance(1) ? draw.pick([422, 422, 500]) : nil
            callers.append(Caller(comes: at, refusal: refusal))
        }
        var from: Int64 = Int64(draw.number(5_000...20_000))
        while from < length * 5 / 9 {
            let (span, trouble) = Self.trouble(&draw)
            spans.append(Span(moments: from..<(from + span), trouble: trouble))
            from += span + Int64(draw.number(8_000...50_000))
        }
    }

    private static func trouble(_ draw: inout SplitMix64) -> (Int64, Trouble) {
        let outage = Int64(draw.number(2_000...40_000))
        switch draw.weighted([5, 2, 2, 2, 2, 2, 2, 1]) {
        case 0: return (outage, .answers(503))
        case 1: return (outage, .answers(500))
        case 2: return (outage, .refuses)
        case 3: return (outage, .isSilent)
        case 4: return (outage / 2, .answers(429))
        case 5: return (outage / 2, .answersSome(429, percent: draw.number(20...70)))
        case 6: return (outage, .isSlow(draw.number(300...2_500)))
        default: return (outage / 2, .answersSome(503, percent: draw.number(10...50)))
        }
    }

    /// The trouble at a moment, in milliseconds since the night began.
    func trouble(at moment: Int64) -> Trouble? { spans.first { $0.moments.contains(moment) }?.trouble }
}
