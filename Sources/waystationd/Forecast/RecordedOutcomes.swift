import RelayBase
import RelayJSON

/// The ends of attempts at a route's upstreams at real moments, as records have them; all else is not known.
struct RecordedOutcomes: Sendable {
    /// One attempt on record.
    struct Point: Sendable {
        /// When it began, in milliseconds since 1970 UTC.
        let at: Int64
        /// Nil where the rules look at more of it than its record has.
        let imagined: Imagined?
    }

    /// Why nobody knows what an attempt would have met.
    enum Gap: String {
        /// No attempt at that upstream is on record.
        case none = "no_record"
        case before = "before_record"
        /// The attempt before and the one after it are unlike, and one of them is no failure.
        case between = "between_unlike"
        case after = "after_record"
        /// The rules look into the content of its answer, or at a field.
        case content
        /// It asks what became of an attempt, which no record has.
        case question
    }

    enum Answer {
        case known(Imagined)
        case unknown(Gap)
    }

    /// All that is known of one moment.
    struct Found {
        let answer: Answer
        /// Between the attempts on record before it and after it; nil where one of them is as good as at that moment.
        var width: Int64?
        /// Whether the two are failures that are not the same.
        var isUnlike = false
    }

    /// By the upstream's name, in the order of their moments: what all jobs met.
    var points: [String: [Point]] = [:]
    /// The same of the job alone, which count before those of others that are as near.
    var own: [String: [Point]] = [:]
    /// Of two failures that are not the same, the one that is taken.
    var takesLater = false

    /// Milliseconds around an attempt on record for which it stands.
    private static let reach: Int64 = 100

    func find(_ upstream: String, at moment: Int64) -> Found {
        let own = Self.around(moment, own[upstream] ?? [])
        let all = Self.around(moment, points[upstream] ?? [])
        // The first of the nearest is taken.
        let near = [own.before, own.after, all.before, all.after].compactMap(\.self)
            .min { abs($0.at - moment) < abs($1.at - moment) }
        guard let near else { return Found(answer: .unknown(.none)) }
        if abs(near.at - moment) <= Self.reach {
            return Found(answer: near.imagined.map { .known($0) } ?? .unknown(.content))
        }
        guard let before = [own.before, all.before].compactMap(\.self).max(by: { $0.at < $1.at }) else {
            return Found(answer: .unknown(.before))
        }
        guard let after = [own.after, all.after].compactMap(\.self).min(by: { $0.at < $1.at }) else {
            return Found(answer: .unknown(.after))
        }
        guard let one = before.imagined, let other = after.imagined else {
            return Found(answer: .unknown(.content))
        }
        let width = after.at - before.at
        if one.isLike(other) { return Found(answer: .known(one), width: width) }
        guard one.end != .good, other.end != .good else { return Found(answer: .unknown(.between)) }
        return Found(answer: .known(takesLater ? other : one), width: width, isUnlike: true)
    }

    /// The last of the points until a moment, and the first one after it.
    private static func around(_ moment: Int64, _ points: [Point]) -> (before: Point?, after: Point?) {
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].at <= moment { low = middle + 1 } else { high = middle }
        }
        return (low > 0 ? points[low - 1] : nil, low < points.count ? points[low] : nil)
    }
}

extension Imagined {
    /// Whether the other is the same but for how long it took.
    fileprivate func isLike(_ other: Imagined) -> Bool { end == other.end }

    /// Reads `[MOMENT, WORD, MILLISECONDS, SENT, STATUS]`, of which the last two stand behind the kind of a failure.
    fileprivate init?(_ parts: [JSONValue]) {
        guard parts.count >= 3, case .string(let word) = parts[1], case .number(let took) = parts[2],
            let took = took.int64
        else { return nil }
        self.init(word: word, end: .good)
        if took > 0 { delay = .exactly(.milliseconds(took)) }
        if word == "ok" { return }
        if word.utf8.count == 3, let code = UInt16(word) {
            end = .answer(Status(rawValue: code), fields: [], body: [])
            return
        }
        let kind = FailureKind(rawValue: word)
        if FailureGroup.timeout.contains(kind) {
            // Silence lasts as long as somebody waits.
            (end, delay) = (.failure(kind), .none)
            return
        }
        guard parts.count >= 4, case .string(let sent) = parts[3], let sent = Sent(rawValue: sent) else {
            return nil
        }
        var status: Status?
        if parts.count >= 5, case .number(let number) = parts[4], let code = number.int64 {
            status = UInt16(exactly: code).map { Status(rawValue: $0) }
        }
        end = .recorded(kind, sent, status)
    }
}

extension RecordedOutcomes {
    /// Reads lists of attempts by the names of upstreams; nil where one of them is none.
    init?(_ json: JSONValue) {
        guard case .object(let members) = json else { return nil }
        for member in members {
            guard case .array(let list) = member.value else { return nil }
            var points: [Point] = []
            points.reserveCapacity(list.count)
            for element in list {
                guard case .array(let parts) = element, case .number(let at)? = parts.first,
                    let at = at.int64
                else { return nil }
                if parts.count == 2, parts[1] == .string("?") {
                    points.append(Point(at: at, imagined: nil))
                } else if let imagined = Imagined(parts) {
                    points.append(Point(at: at, imagined: imagined))
                } else {
                    return nil
                }
            }
            self.points[member.name] = points.sorted { $0.at < $1.at }
        }
    }
}
