import RelayBase
import RelayInterface
import RelayJSON

/// A job on record after other rules.
struct RehearsedJob {
    enum Ending {
        /// Delivered, between these milliseconds since 1970 UTC.
        case delivered(ClosedRange<Int64>)
        /// Over without it, or put aside; the word says how.
        case lost(String)
        case unknown(Unknown)
    }

    /// Why the record cannot tell.
    enum Unknown: String, CaseIterable {
        case afterRecord = "after_record"
        case beforeRecord = "before_record"
        case betweenUnlike = "between_unlike"
        case noRecord = "no_record"
        case question
        case content
        /// Failures that may be about its own request.
        case ownFailure = "own_failure"
        /// A time on record was over, which may have been a bound of its caller's.
        case deadline
        /// It would be delivered beyond a bound on record, which may be the route's or its caller's.
        case bound
        /// Something that ends it does not come.
        case noEnd = "no_end"
        /// The waits that chance gives come to unlike ends.
        case chance
        /// The file has no such route.
        case noRoute = "no_route"
        /// The record of the job has no attempt that says something of an upstream.
        case noAttempts = "no_attempts"

        var text: String {
            switch self {
            case .afterRecord: "whose next attempt comes after the last one on record of its upstream"
            case .beforeRecord: "whose next attempt comes before the first one on record of its upstream"
            case .betweenUnlike: "whose next attempt comes between one that failed and one that did not"
            case .noRecord: "that would go to an upstream without an attempt on record"
            case .question: "that would be asked about (verify), which no record answers"
            case .content: "whose next answer the file judges by what is not on record of it"
            case .ownFailure: "whose failures may be about its own request, of which others tell nothing"
            case .deadline: "whose time was over on record, perhaps by a bound of its caller's"
            case .bound:
                "that would need more attempts or time than a bound on record, perhaps its caller's, lets it have"
            case .noEnd: "that would not have come to an end"
            case .chance: "whose end depends on chance"
            case .noRoute: "of a route that the file does not have"
            case .noAttempts: "without an attempt on record that says something of an upstream"
            }
        }
    }

    let job: Job
    let ending: Ending
    /// Whether each of its courses is known to its end.
    let isKnown: Bool
    /// Whether more courses were tried since chance makes a difference.
    private(set) var isSampled = false
    /// Attempts, over the courses; nil where the end is not known.
    private(set) var attempts: ClosedRange<Int>?
    /// Rules that acted in one of the courses, and those that matched and were held back.
    private(set) var acted: Set<String> = []
    private(set) var heldBack: Set<String> = []
    /// The widest span, in milliseconds, between two attempts on record that were taken for what is between.
    private(set) var width: Int64 = 0

    init(_ job: Job, _ unknown: Unknown) {
        (self.job, ending, isKnown) = (job, .unknown(unknown), false)
    }

    /// Courses of a trial in which chance makes no difference, at most.
    private static let fewest = 6

    /// Takes the courses of its trial, which began at that moment; others say nothing of it at upstreams where it is `alone`.
    init(
        _ job: Job,
        since begins: Int64,
        alone: Set<String> = [],
        _ doubtful: RecordedLimits.Doubtful,
        _ answer: JSONValue
    ) {
        let courses = answer["courses"]?.elements ?? []
        self.job = job
        isSampled = courses.count > Self.fewest
        var moments: [Int64] = []
        var (ends, counts): (Set<String>, [Int]) = ([], [])
        var unknown: Unknown?
        for course in courses {
            acted.formUnion((course["rules"]?.elements ?? []).compactMap(\.text))
            heldBack.formUnion((course["held_back"]?.elements ?? []).compactMap(\.text))
            width = max(width, course["width_ms"]?.integer ?? 0)
            if let gap = course["unknown"]?["why"]?.text {
                let why = Unknown(rawValue: gap) ?? .noRecord
                let isOfRecord = [.afterRecord, .beforeRecord, .betweenUnlike].contains(why)
                let isAlone = alone.contains(course["unknown"]?["upstream"]?.text ?? "")
                unknown = unknown ?? (isAlone && isOfRecord ? .ownFailure : why)
                continue
            }
            let count = Int(course["attempts"]?.integer ?? 0)
            counts.append(count)
            let word = course["outcome"]?.text ?? course["state"]?.text ?? "?"
            if let state = Job.State(rawValue: word), !state.isOver, state != .held {
                unknown = unknown ?? .noEnd
                continue
            }
            if [OutcomeWord.success.rawValue, Job.State.succeeded.rawValue].contains(word) {
                let length = Int64(exactly: (course["length_ms"]?.double ?? 0).rounded(.down)) ?? 0
                let moment = begins + min(length, 1 << 50)
                moments.append(moment)
                if doubtful.isBeyond(count, until: moment) { unknown = unknown ?? .bound }
            } else {
                ends.insert(course["end"]?.text.flatMap { $0 == word ? nil : "\(word), \($0)" } ?? word)
            }
        }
        isKnown = unknown == nil && !courses.isEmpty
        if let unknown {
            ending = .unknown(unknown)
        } else if ends.isEmpty, let first = moments.min(), let last = moments.max() {
            ending = .delivered(first...last)
        } else if moments.isEmpty, let end = ends.min() {
            ending = .lost(end)
        } else {
            ending = .unknown(courses.isEmpty ? .noAttempts : .chance)
        }
        if case .unknown = ending { return }
        if let least = counts.min(), let most = counts.max() { attempts = least...most }
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("id", job.id)
        json.member("route", job.route)
        switch ending {
        case .delivered(let moments):
            json.member("rehearsed", "delivered")
            json.member("first", WallTime(milliseconds: moments.lowerBound).description)
            json.member("last", WallTime(milliseconds: moments.upperBound).description)
        case .lost(let end):
            json.member("rehearsed", "not_delivered")
            json.member("end", end)
        case .unknown(let why):
            json.member("rehearsed", "not_known")
            json.member("why", why.rawValue)
        }
        json.member("attempts_on_record", job.attemptCount)
        guard let attempts else { return }
        json.member("attempts_least", attempts.lowerBound)
        json.member("attempts_most", attempts.upperBound)
    }
}
