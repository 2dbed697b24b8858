import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

/// The order of a `POST /v1/jobs/actions`, read strictly.
struct BulkAction {
    private(set) var action = JobAction.retry
    private(set) var filter = JobFilter()
    /// Only counts, unless the caller says otherwise.
    private(set) var isDryRun = true
    /// Jobs a second that become due.
    private(set) var rate: ActionRate?
    private(set) var limit = BulkAction.mostJobs
    private(set) var cursor: JobCursor?
    /// Jobs that matched when the caller looked, at most `mostJobs`.
    private(set) var seen: Int?
    /// The words of whoever begins a run.
    private(set) var why: String?
    /// When the first job of this call is due, in milliseconds since 1970 UTC: behind those of the call that gave the
    /// cursor.
    private(set) var due: Int64?

    /// Jobs of one call.
    static let mostJobs = 10_000
    /// Ids of one filter.
    static let mostIDs = 1_000
    static let members = [
        "action", "filter", "unknown", "superseded", "dry_run", "rate", "limit", "cursor", "seen",
    ]
    /// Those of a run, which counts nothing and goes on by itself.
    static let runMembers = ["action", "filter", "unknown", "superseded", "rate", "seen", "reason"]
    static let filterMembers = [
        "route", "state", "reason", "end", "failure_kind", "status", "upstream", "label", "created_after",
        "created_before", "ids",
    ]
    /// The forms of a rate and a cursor, as regular expressions.
    static let ratePattern = "^(?!0+/)[0-9]{1,7}/[smh]$"
    static let cursorPattern = String(JobCursor.pattern.dropLast()) + "([.][0-9a-z]{1,9})?$"

    /// `isRun` is for the order of a `POST /v1/runs`.
    init(_ document: [UInt8], isRun: Bool = false) throws(Problem) {
        let what = isRun ? "the run" : "the action"
        let value = try JSONValue(document, as: what, or: .invalidJob)
        if isRun { isDryRun = false }
        var reader = SubmissionReader()
        var named: JobAction?
        var hasFilter = false
        var takesUncertain: Bool?
        var takesSuperseded: Bool?
        reader.members(value, "", isRun ? BulkAction.runMembers : BulkAction.members) { reader, name, value in
            switch name {
            case "action":
                named = reader.word(value, "/action", JobAction.allCases.map { ($0.rawValue, $0) })
            case "filter":
                hasFilter = true
                readFilter(value, &reader)
            case "unknown":
                guard let isOn = reader.bool(value, "/unknown") else { return }
                takesUncertain = isOn
            case "superseded":
                guard let isOn = reader.bool(value, "/superseded") else { return }
                takesSuperseded = isOn
            case "dry_run":
                guard let isOn = reader.bool(value, "/dry_run") else { return }
                isDryRun = isOn
            case "rate":
                rate = reader.string(value, "/rate").flatMap { ActionRate($0) }
                if rate == nil {
                    reader.fail("/rate", "a rate is jobs in a time, such as 50/s, 100/m or 5/h")
                }
            case "limit":
                let message = "limit is a whole number from 1 to \(BulkAction.mostJobs)"
                guard let count = reader.number(value, "/limit", 1...BulkAction.mostJobs, message)
                else { return }
                limit = count
            case "reason": why = reader.reason(value)
            case "seen":
                let message = "seen is a whole number from 0 to \(BulkAction.mostJobs)"
                seen = reader.number(value, "/seen", 0...BulkAction.mostJobs, message)
            default:
                if case .null = value { return }
                let parts = reader.string(value, "/cursor")?.split(separator: ".", maxSplits: 1) ?? []
                cursor = parts.first.flatMap { JobCursor(text: String($0)) }
                due = parts.last.flatMap { $0.utf8.count <= 9 ? Int64($0, radix: 36) : nil }
                if parts.count == 2, due == nil { cursor = nil }
                if cursor == nil {
                    reader.fail("/cursor", "cursor is what an earlier answer has as next, unchanged")
                }
            }
        }
        if reader.errors.isEmpty {
            if named == nil { reader.fail("/action", "an action names what is to be done") }
            if !hasFilter { reader.fail("/filter", "an action says which jobs it means; {} means all") }
            if rate != nil, named != .retry { reader.fail("/rate", "only a retry has a rate") }
            if takesUncertain != nil, named != .retry {
                reader.fail("/unknown", "only a retry takes jobs that may have been carried out")
            }
            if takesSuperseded != nil, named != .retry {
                reader.fail("/superseded", "only a retry takes jobs whose place a newer one took")
            }
        }
        try reader.check(what, or: .invalidJob)
        if let named { action = named }
        filter.sparesUncertain = named == .retry && takesUncertain != true
        filter.sparesSuperseded = named == .retry && takesSuperseded != true
    }

    private mutating func readFilter(_ value: JSONValue, _ reader: inout SubmissionReader) {
        reader.members(value, "/filter", BulkAction.filterMembers) { reader, name, value in
            let pointer = "/filter/\(name)"
            switch name {
            case "route": filter.route = reader.text(value, pointer)
            case "failure_kind":
                filter.failureKind = reader.text(value, pointer).map { FailureKind(rawValue: $0) }
            case "status":
                let message = "status is a whole number from 100 to 999"
                filter.failureStatus = reader.number(value, pointer, JobFilter.statuses, message)
                    .map { Status(rawValue: UInt16($0)) }
            case "upstream": filter.upstream = reader.text(value, pointer)
            case "label": filter.label = reader.text(value, pointer)
            case "reason": filter.reason = reader.word(value, pointer, JobFilter.reasonWords)
            case "end": filter.end = reader.word(value, pointer, JobFilter.endWords)
            case "state":
                let states = reader.elements(value, pointer, atMost: JobState.allCases.count)
                for (index, element) in states.enumerated() {
                    let place = "\(pointer)/\(index)"
                    guard let state = reader.word(element, place, JobFilter.stateWords) else { continue }
                    filter.states.insert(state)
                }
            case "created_after": filter.createdFrom = reader.moment(value, pointer)
            case "created_before": filter.createdBefore = reader.moment(value, pointer)
            default:
                let ids = reader.elements(value, pointer, atMost: BulkAction.mostIDs)
                for (index, element) in ids.enumerated() {
                    let place = "\(pointer)/\(index)"
                    guard let text = reader.string(element, place) else { continue }
                    guard let id = JobID(text: text) else {
                        reader.fail(place, "an id has 26 characters, such as 01K9ZQ3V7N4T0C8R5B2M6XW1HD")
                        continue
                    }
                    filter.ids.append(id)
                }
            }
        }
    }

    /// Whether others match than the caller has seen, now that `count` were found; of a store that takes longer to look
    /// through whole it is known only that there are so many.
    func means(others count: Int, _ isWhole: Bool) -> Bool {
        seen.map { isWhole ? count != $0 : count > $0 } ?? false
    }

    /// - Throws: `selection_changed` where the caller has seen others.
    func check(_ count: Int, _ isWhole: Bool) throws(Problem) {
        let now = min(count, BulkAction.mostJobs)
        guard let seen, means(others: now, isWhole || count >= BulkAction.mostJobs) else { return }
        throw Problem(
            .selectionChanged,
            "\(now) job\(now == 1 ? " matches" : "s match") now, and not \(seen): nothing was done"
        )
    }

    /// The order that the store is given in one turn.
    func order(limit: Int, by origin: ActionOrigin) -> ActionOrder {
        var order = ActionOrder(action, filter, limit: limit, by: origin)
        order.isDryRun = isDryRun
        return order
    }

    /// How the jobs that are retried are spread; nil when they are due at once.
    func spacing(after offset: Duration) -> JobSpacing? {
        rate.map { JobSpacing(first: offset, interval: $0.interval) }
    }

    /// How long after `now` the first job is due.
    func offset(_ now: Int64) -> Duration { .milliseconds(max(0, (due ?? 0) - now)) }

    /// The cursor for the next call; with a rate that call goes on where this one's jobs end.
    func next(_ cursor: JobCursor, after changed: Int, from now: Int64) -> String {
        guard let rate, !isDryRun else { return cursor.text }
        let first = max(now, due ?? 0)
        return cursor.text + "." + String(first + Int64(Double(changed) * 1_000 / rate.perSecond), radix: 36)
    }
}
