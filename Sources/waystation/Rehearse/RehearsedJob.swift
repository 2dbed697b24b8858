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
            case .chance: "whose end depends on chance"
            case .noRoute: "of a route that the file does not have"
            case .noAttempts: "without an attempt on record that says something of an upstream"
            }
        }
    }

    let job: Job
    let ending: Ending
    /// Attempts, over the courses; nil where the end is not known.
    private(set) var attempts: ClosedRange<Int>?
    /// Rules that acted in one of the courses, and those that matched and were held back.
    private(set) var acted: Set<String> = []
    private(set) var heldBack: Set<String> = []
    /// The widest span, in milliseconds, between two attempts on record that were taken for what is between.
    private(set) var width: Int64 = 0

    init(_ job: Job, _ unknown: Unknown) {
        (self.job, ending) = (job, .unknown(unknown))
    }

    /// Takes the courses of its trial, which began at that moment.
    init(_ job: Job, since begins: Int64, _ answer: JSONValue) {
        let courses = answer["courses"]?.elements ?? []
        self.job = job
        var moments: [Int64] = []
        var (ends, counts): (Set<String>, [Int]) = ([], [])
        var unknown: Unknown?
        for course in courses {
            acted.formUnion((course["rules"]?.elements ?? []).compactMap(\.text))
            heldBack.formUnion((course["held_back"]?.elements ?? []).compactMap(\.text))
            width = max(width, course["width_ms"]?.integer ?? 0)
            if let gap = course["unknown"]?["why"]?.text {
                unknown = unknown ?? Unknown(rawValue: gap) ?? .noRecord
                continue
            }
            counts.append(Int(course["attempts"]?.integer ?? 0))
            let word = course["outcome"]?.text ?? course["state"]?.text ?? "?"
            if [OutcomeWord.success.rawValue, Job.State.succeeded.rawValue].contains(word) {
                moments.append(begins + Int64(course["length_ms"]?.double ?? 0))
            } else {
                ends.insert(course["end"]?.text.flatMap { $0 == word ? nil : "\(word), \($0)" } ?? word)
            }
        }
        if let unknown {
            ending = .unknown(unknown)
        } else if ends.isEmpty, let first = moments.min(), let last = moments.max() {
            ending = .delivered(first...last)
        } else if moments.isEmpty, let end = ends.min() {
            ending = .lost(end)
        } else {
            ending = .unknown(courses.isEmpty ? .noAttempts : .chance)
        }
        if unknown == nil, let least = counts.min(), let most = counts.max() { attempts = least...most }
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
