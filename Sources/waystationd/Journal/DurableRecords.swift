import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelaySystemd

/// The words and fields of records about durable jobs and their routes.
enum DurableRecords {
    /// The kind of record about a job's end; nil when there is nothing an operator should read.
    static func ended(_ end: JobReport) -> JournalRecord.Kind? {
        switch end.state {
        // As it should be, unless it took more than one.
        case .succeeded: end.attemptCount > 1 ? JobRecords.recovered : nil
        case .dead: JournalRecord.Kind(.error, .jobDead)
        case .expired: JournalRecord.Kind(.error, .jobExpired)
        case .cancelled, .scheduled, .queued, .running, .retrying, .held: nil
        }
    }

    static func ended(_ end: JobReport, _ job: JobContext, _ kind: JournalRecord.Kind) -> JournalRecord {
        let count = "\(end.attemptCount) attempt\(end.attemptCount == 1 ? "" : "s")"
        let message =
            switch end.state {
            case .dead: "\(request(job)) is dead\(died(end, after: count))"
            case .expired: "job \(job.id): its time on route \(job.route.name) ran out after \(count)"
            default: "\(request(job)) was delivered after \(count)"
            }
        var record = JournalRecord(kind, message)
        JobRecords.add(job, to: &record)
        if let last = end.attempts.last { JobRecords.add(last, to: &record) }
        if let failure = end.failure {
            if end.attempts.isEmpty { record.add(.failureKind, failure.kind.rawValue) }
            record.add(.detail, failure.detail)
        }
        return record
    }

    private static func request(_ job: JobContext) -> String {
        "job \(job.id): \(job.method.rawValue) on route \(job.route.name)"
    }

    private static func died(_ end: JobReport, after count: String) -> String {
        let why = end.failure.map { ": \($0.kind.rawValue): \($0.detail)" } ?? ""
        let isOfNoRule = end.end == .exhausted && end.attempts.last?.metNoRule == true
        return (end.end.map { " (\($0.rawValue))" } ?? "")
            + " after \(count)\(isOfNoRule ? ", no rule acts on it" : "")\(why)"
    }

    /// Nil when there is nothing an operator should read.
    static func endedInStore(_ job: JobReport) -> JournalRecord? {
        let place = "job \(job.id) on route \(job.route)"
        var record: JournalRecord
        switch job.state {
        case .dead:
            let message = "\(place) is dead" + (job.end.map { " (\($0.rawValue)): \(why($0))" } ?? "")
            record = JournalRecord(.error, .jobDead, message)
        case .expired:
            let message = "\(place): its time ran out before it could be delivered"
            record = JournalRecord(.error, .jobExpired, message)
        case .cancelled:
            guard job.end == .superseded else { return nil }
            let message = "\(place) was superseded: a newer job has its supersede key"
            record = JournalRecord(.info, .jobsChanged, message)
        case .succeeded, .scheduled, .queued, .running, .retrying, .held: return nil
        }
        record.add(.jobID, job.id.description)
        record.add(.route, job.route)
        if let user = job.user, user != JobRecord.Submitter.ofNotices.user { record.add(.clientUser, user) }
        return record
    }

    /// The cause of the end, in words for an operator.
    private static func why(_ reason: EndReason) -> String {
        switch reason {
        case .poison: "the relay crashed too often while it was in flight; look at it before it is retried"
        case .outcomeUnknown:
            "the relay stopped while it was in flight, it may have arrived, and it must not be sent twice"
        case .notRepeatable: "it was answered, may have been carried out, and must not be sent twice"
        case .corrupt: "its record on disk is damaged"
        default: "it ended before it was sent"
        }
    }

    static func noSpace(_ route: String) -> JournalRecord {
        JournalRecord(
            .critical,
            .storeNotice,
            "a job of route \(route) was refused: the job store has no room for its body; free space on its disk, or raise "
                + "storage.max_size"
        )
    }

    static func changed(_ change: JobsChange) -> JournalRecord {
        let who = change.by?.description ?? "a caller without peer credentials"
        let asked = change.asked > 0 ? ", \(change.asked) of them running and asked to end" : ""
        var record = JournalRecord(
            .notice,
            .jobsChanged,
            "\(who): \(change.action.rawValue) of \(text(change.filter)): \(change.changed) job\(change.changed == 1 ? "" : "s") changed\(asked)"
        )
        if change.filter.ids.count == 1, let job = change.filter.ids.first {
            record.add(.jobID, job.description)
        }
        if let route = change.filter.route { record.add(.route, route) }
        record.add(.clientUser, change.by?.user)
        return record
    }

    /// A run began, or is over.
    static func changed(_ run: ActionRun) -> JournalRecord? {
        guard let kind = JournalRecord.Kind(run.state == .running ? .runStarted : .runEnded) else {
            return nil
        }
        let who = run.by?.description ?? "a caller without peer credentials"
        let what = "run \(run.number), \(run.action.rawValue) of \(text(run.filter)) by \(who)"
        let counts = "\(run.count.changed) of \(run.count.matched) jobs that matched changed"
        let words =
            switch run.state {
            case .running:
                "began" + (run.total.map { ": \($0) job\($0 == 1 ? " matches" : "s match")" } ?? "")
                    + (run.rate.map { ", \($0.text)" } ?? "") + (run.why.map { ": \($0)" } ?? "")
                    + "; `waystation runs stop \(run.number)` ends it"
            case .done: "is done: \(counts)"
            case .stopped: "was stopped by \(run.endedBy?.description ?? "somebody"): \(counts)"
            case .failed: "failed: \(run.failure ?? "no reason is known"); \(counts)"
            }
        var record = JournalRecord(kind, "\(what) \(words)")
        if let route = run.filter.route { record.add(.route, route) }
        record.add(.clientUser, (run.state == .running ? run.by : run.endedBy ?? run.by)?.user)
        return record
    }

    /// Which jobs were meant.
    private static func text(_ filter: JobFilter) -> String {
        var words: [String] = []
        if filter.ids.count == 1, let id = filter.ids.first { return "job \(id)" }
        if !filter.ids.isEmpty { words.append("\(filter.ids.count) ids") }
        if let route = filter.route { words.append("route=\(route)") }
        if !filter.states.isEmpty {
            words.append("state=" + filter.states.map(\.name).sorted().joined(separator: ","))
        }
        if let reason = filter.reason { words.append("reason=\(reason.name)") }
        if let end = filter.end { words.append("end=\(end.rawValue)") }
        if let kind = filter.failureKind { words.append("failure_kind=\(kind.rawValue)") }
        if let status = filter.failureStatus { words.append("status=\(status.rawValue)") }
        if let upstream = filter.upstream { words.append("upstream=\(upstream)") }
        if let label = filter.label { words.append("label=\(label)") }
        if let user = filter.user { words.append("uid=\(user)") }
        if let from = filter.createdFrom {
            words.append("created_after=" + UTCTime.format(milliseconds: from))
        }
        if let end = filter.createdBefore {
            words.append("created_before=" + UTCTime.format(milliseconds: end))
        }
        return words.isEmpty ? "all jobs" : "jobs with " + words.joined(separator: " ")
    }

    static func paused(_ route: String, _ pause: RoutePause) -> JournalRecord {
        var record = JournalRecord(
            .warning,
            .routePaused,
            "route \(route) is paused by \(pause.who): \(pause.reason); `waystation resume \(route)` lets it go on"
        )
        record.add(.route, route)
        record.add(.rule, pause.rule)
        record.add(.detail, pause.reason)
        record.add(.clientUser, pause.by?.user)
        return record
    }

    static func shut(_ route: String, _ until: Int64?) -> JournalRecord {
        var record =
            if let until {
                JournalRecord(
                    .notice,
                    .routeClosed,
                    "route \(route) is closed until \(UTCTime.format(seconds: until)), as planned"
                )
            } else { JournalRecord(.notice, .routeOpened, "route \(route) is open again, as planned") }
        record.add(.route, route)
        return record
    }

    static func breaker(_ route: String, _ change: BreakerChange) -> JournalRecord {
        let upstream = "upstream \(change.upstream) of route \(route)"
        var record =
            if let wait = change.probeIn {
                JournalRecord(
                    .warning,
                    .breakerOpened,
                    "\(upstream) fails: its circuit breaker "
                        + (change.isReported
                            ? "would be open (mode report), and a probe go in "
                            : "is open, and a probe goes in ")
                        + DurationText.text(wait) + (change.failing.map { "; \($0)" } ?? "")
                )
            } else {
                JournalRecord(.notice, .breakerClosed, "\(upstream) works again: its breaker is closed")
            }
        record.add(.route, route)
        record.add(.upstream, change.upstream)
        return record
    }

    static func resumed(_ route: String, _ by: Principal?) -> JournalRecord {
        let who = by.map { ": \($0) resumed it" } ?? ""
        var record = JournalRecord(.notice, .routeResumed, "route \(route) goes on\(who)")
        record.add(.route, route)
        record.add(.clientUser, by?.user)
        return record
    }
}
