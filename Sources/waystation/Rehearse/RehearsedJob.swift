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
        case apart
        case noRecord = "no_record"
        case question
        case content
        /// Failures that may be about its own request.
        case ownFailure = "own_failure"
        /// A time on record was over, which may have been a bound of its caller's.
        case deadline
        /// It would be delivered beyond a bound on record, which may be the route's or its caller's.
        case bound
        /// Protections may hold it back, by what jobs do to them that did not go beside it.
        case heldBack = "held_back"
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
            case .afterRecord:
                "whose next attempt comes more than 10 s after the last one on record of its upstream"
            case .beforeRecord:
                "whose next attempt comes more than 10 s before the first one on record of its upstream"
            case .betweenUnlike: "whose end depends on a moment between unlike attempts"
            case .apart: "whose next attempt comes more than 10 s from each on record of its upstream"
            case .noRecord: "that would go to an upstream without an attempt on record"
            case .question: "that would be asked about (verify), which no record answers"
            case .content: "whose next answer the file judges by what is not on record of it"
            case .ownFailure: "whose failures may be about its own request, of which others tell nothing"
            case .deadline: "whose time was over on record, perhaps by a bound of its caller's"
            case .bound:
                "that would need more attempts or time than a bound on record, perhaps its caller's, lets it have"
            case .heldBack:
                "that circuit breakers, budgets or other protections may hold back, since not all jobs of the route went together"
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
    /// Courses that chance was asked for; 0 where it makes no difference.
    private(set) var samples = 0
    /// Whether the others of its route are too many to go beside it.
    private(set) var isOneOfMany = false
    /// Attempts, over the courses; nil where the end is not known.
    private(set) var attempts: ClosedRange<Int>?
    /// Rules that acted in one of the courses, and those that matched and were held back.
    private(set) var acted: Set<String> = []
    private(set) var heldBack: Set<String> = []

    init(_ job: Job, _ unknown: Unknown) {
        (self.job, ending, isKnown) = (job, .unknown(unknown), false)
    }

    /// Takes the courses of its trial.
    init(_ trial: Trial, _ answer: JSONValue) {
        let courses = answer["courses"]?.elements ?? []
        job = trial.job
        samples = Int(answer["sampled"]?.integer ?? 0)
        isOneOfMany = answer["one_of_many"] == .bool(true)
        var moments: [Int64] = []
        var (ends, counts): (Set<String>, [Int]) = ([], [])
        var unknown: Unknown?
        let isUnlike = courses.contains { $0["unlike"] == .bool(true) }
        for course in courses {
            acted.formUnion((course["rules"]?.elements ?? []).compactMap(\.text))
            heldBack.formUnion((course["held_back"]?.elements ?? []).compactMap(\.text))
            if let gap = course["unknown"]?["why"]?.text {
                let why = Unknown(rawValue: gap) ?? .noRecord
                let isOfRecord = [.afterRecord, .beforeRecord, .apart].contains(why)
                let isAlone = trial.alone.contains(course["unknown"]?["upstream"]?.text ?? "")
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
                let moment = trial.begins + min(length, 1 << 50)
                moments.append(moment)
                if trial.doubtful.isBeyond(count, until: moment) { unknown = unknown ?? .bound }
            } else {
                ends.insert(course["end"]?.text.flatMap { $0 == word ? nil : "\(word), \($0)" } ?? word)
            }
        }
        if unknown == nil, trial.mayBeHeldBack || isOneOfMany, trial.refused.isEmpty, !ends.isEmpty {
            unknown = .heldBack
        }
        isKnown = unknown == nil && !courses.isEmpty
        if let unknown {
            ending = .unknown(unknown)
        } else if ends.isEmpty, let first = moments.min(), let last = moments.max() {
            ending = .delivered(first...last)
        } else if moments.isEmpty, let end = ends.min() {
            ending = .lost(end)
        } else {
            ending = .unknown(courses.isEmpty ? .noAttempts : isUnlike ? .betweenUnlike : .chance)
        }
        if case .unknown = ending { return }
        if let least = counts.min(), let most = counts.max() { attempts = least...most }
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("id", job.id)
        json.member("route", job.route)
        switch ending {
        case .delivered(let moments):
            json.member("rehearsed", "would_have_been")
            json.member("first", WallTime(milliseconds: moments.lowerBound).description)
            json.member("last", WallTime(milliseconds: moments.upperBound).description)
        case .lost(let end):
            json.member("rehearsed", "would_not")
            json.member("end", end)
        case .unknown(let why):
            json.member("rehearsed", "cannot_be_known")
            json.member("why", why.rawValue)
        }
        json.member("attempts_on_record", job.attemptCount)
        guard let attempts else { return }
        json.member("attempts_least", attempts.lowerBound)
        json.member("attempts_most", attempts.upperBound)
    }
}
