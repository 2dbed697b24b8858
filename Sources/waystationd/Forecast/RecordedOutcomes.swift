import RelayBase
import RelayJSON

/// The ends of attempts at a route's upstreams at real moments, as records have them; all else is not known.
struct RecordedOutcomes: Sendable {
    /// One attempt on record.
    struct Point: Sendable {
        /// When it began, in milliseconds since 1970 UTC.
        let at: Int64
        /// When it ended, in the same.
        let end: Int64
        /// Nil where the rules look at more of it than its record has.
        let imagined: Imagined?
    }

    /// Why nobody knows what an attempt would have met.
    enum Gap: String {
        /// No attempt at that upstream is on record.
        case none = "no_record"
        case before = "before_record"
        /// The attempts before and after it are both too far away.
        case apart
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
        /// Whether the attempts around it are not the same.
        var isUnlike = false
    }

    /// By the upstream's name, in the order of their moments: what all jobs met.
    var points: [String: [Point]] = [:]
    /// The same of the job alone, which count before those of others that are as near.
    var own: [String: [Point]] = [:]
    /// Upstreams of which only the job's own attempts tell, and whether they do so at any time.
    var alone: [String: Bool] = [:]
    /// Of two that are not the same, whether the success is taken and not the failure, or the later one of two failures.
    var takesLater = false

    /// Milliseconds around an attempt on record for which it stands, where none that is nearer ended otherwise.
    private static let reach: Int64 = 10_000
    /// The same of one that the job itself made, whatever others met a moment later or before.
    private static let ownReach: Int64 = 100
    /// Attempts on each side that have to agree, and the milliseconds within which they count.
    private static let nearest = 3
    private static let nearby: Int64 = 500

    func find(_ upstream: String, at moment: Int64) -> Found {
        let own = Self.around(moment, own[upstream] ?? [])
        let all = Self.around(moment, alone[upstream] == nil ? points[upstream] ?? [] : [])
        let last = [own.before, all.before].compactMap(\.self).max { $0.at < $1.at }
        let next = [own.after, all.after].compactMap(\.self).min { $0.at < $1.at }
        guard last != nil || next != nil else { return Found(answer: .unknown(.none)) }
        let its = [
            own.before.flatMap { $0.at == last?.at ? $0 : nil },
            own.after.flatMap { $0.at == next?.at ? $0 : nil },
        ]
        .compactMap(\.self).min { abs($0.at - moment) < abs($1.at - moment) }
        if let its, abs(its.at - moment) <= Self.ownReach {
            return Found(answer: its.imagined.map { .known($0) } ?? .unknown(.content))
        }
        if let lasts = alone[upstream] {
            guard lasts, let imagined = (last ?? next)?.imagined else {
                return Found(answer: .unknown(.after))
            }
            return Found(answer: .known(imagined))
        }
        let before = last.flatMap { moment - $0.end <= Self.reach ? $0 : nil }
        let after = next.flatMap { $0.at - moment <= Self.reach ? $0 : nil }
        guard let nearest = before ?? after else {
            return Found(answer: .unknown(last == nil ? .before : next == nil ? .after : .apart))
        }
        guard let one = nearest.imagined, let other = (after ?? nearest).imagined else {
            return Found(answer: .unknown(.content))
        }
        if one.isLike(other) {
            guard let unlike = mixed(upstream, at: moment, one) else { return Found(answer: .known(one)) }
            return between(one, unlike)
        }
        return between(one, other)
    }

    /// One of two that are not the same; of a failure and a success the failure comes first.
    private func between(_ one: Imagined, _ other: Imagined) -> Found {
        let (first, second) = one.end == .good ? (other, one) : (one, other)
        return Found(answer: .known(takesLater ? second : first), isUnlike: true)
    }

    /// One of the nearest attempts that is a success where the others are none, or the reverse, as where an upstream takes
    /// some of them: that two agree is chance there.
    private func mixed(_ upstream: String, at moment: Int64, _ imagined: Imagined) -> Imagined? {
        let points = points[upstream] ?? []
        let middle = Self.count(until: moment, points)
        return points[max(0, middle - Self.nearest)..<min(points.count, middle + Self.nearest)].first {
            point in
            abs(point.at - moment) <= Self.nearby
                && point.imagined.map { ($0.end == .good) != (imagined.end == .good) } ?? false
        }?.imagined
    }

    /// The last of the points until a moment, and the first one after it.
    private static func around(_ moment: Int64, _ points: [Point]) -> (before: Point?, after: Point?) {
        let count = count(until: moment, points)
        return (count > 0 ? points[count - 1] : nil, count < points.count ? points[count] : nil)
    }

    /// How many points there are until a moment.
    private static func count(until moment: Int64, _ points: [Point]) -> Int {
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].at <= moment { low = middle + 1 } else { high = middle }
        }
        return low
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
                    points.append(Point(at: at, end: at, imagined: nil))
                } else if let imagined = Imagined(parts), case .number(let took) = parts[2] {
                    let (end, isTooLate) = at.addingReportingOverflow(max(took.int64 ?? 0, 0))
                    points.append(Point(at: at, end: isTooLate ? at : end, imagined: imagined))
                } else {
                    return nil
                }
            }
            self.points[member.name] = points.sorted { $0.at < $1.at }
        }
    }
}
