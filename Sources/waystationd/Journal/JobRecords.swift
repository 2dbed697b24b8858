import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelaySystemd

/// The words and fields of records about jobs.
enum JobRecords {
    static let attemptFailed = JournalRecord.Kind(.notice, .attemptFailed)
    static let lookedUp = JournalRecord.Kind(.notice, .lookedUp)
    static let recovered = JournalRecord.Kind(.info, .recovered)
    static let fallbackServed = JournalRecord.Kind(.warning, .fallbackServed)
    /// The limit is the operator's to move, so it is told as loudly as a 403.
    static func requestRefused(_ refused: RefusedRequest) -> JournalRecord.Kind {
        let isOurs = refused.status == 413 || refused.status.isServerError && refused.status != 501
        // The cause of any other refusal is the caller's to mend.
        return JournalRecord.Kind(isOurs ? .warning : .info, .requestRefused)
    }

    static func attemptFailed(_ job: JobContext, _ attempt: Attempt, _ next: Attempt.Next) -> JournalRecord {
        let message =
            "job \(job.id): attempt \(attempt.number) on route \(job.route.name) failed: "
            + "\(what(attempt)), \(consequence(next))"
            + (attempt.rule.map { " (rule \($0))" } ?? "")
        var record = JournalRecord(attemptFailed, message)
        add(job, to: &record)
        add(attempt, to: &record)
        record.add(.recovery, next.name)
        if case .retry(let wait) = next {
            record.add(.nextAttemptMicroseconds, wait.saturatedNanoseconds / 1000)
        }
        return record
    }

    /// The upstream was asked or told something about a request that it has, or has begun an operation for it.
    static func lookedUp(_ job: JobContext, _ attempt: Attempt) -> JournalRecord {
        let next = attempt.next.map { ", \(consequence($0))" } ?? ""
        var record = JournalRecord(
            lookedUp,
            "job \(job.id): the upstream of route \(job.route.name) \(story(attempt)), \(what(attempt))\(next)"
        )
        add(job, to: &record)
        add(attempt, to: &record)
        return record
    }

    private static func story(_ attempt: Attempt) -> String {
        switch attempt.lookUp {
        case nil: "has begun an operation"
        case .told: "was told to stop the operation, and has taken that (told)"
        case .untold: "was told to stop the operation, and has not taken that (untold)"
        case .found?, .absent?, .unclear?:
            "was asked what became of the request: \(attempt.word.rawValue)"
        case .running?, .done?, .failed?, .gone?, .unanswered?:
            "was asked how the operation is: \(attempt.word.rawValue)"
        }
    }

    static func recovered(_ report: JobReport, _ job: JobContext) -> JournalRecord {
        let attempts = report.attempts
        var record = JournalRecord(
            recovered,
            "job \(job.id): \(job.method.rawValue) on route \(job.route.name) succeeded after \(attempts.count) "
                + "attempt\(attempts.count == 1 ? "" : "s")\(permit(report))\n\(timeline(attempts))"
        )
        add(job, to: &record)
        add(report.permitWait, to: &record)
        if let last = attempts.last { add(last, to: &record) }
        return record
    }

    static func fallbackServed(_ report: JobReport, _ job: JobContext) -> JournalRecord {
        let source = (report.source ?? .fallback).rawValue
        let rule = report.attempts.last?.rule.map { " (rule \($0))" } ?? ""
        var record = JournalRecord(
            fallbackServed,
            "job \(job.id): route \(job.route.name) answered with its \(source)\(rule)\(further(report))\(permit(report))\n"
                + timeline(report.attempts)
        )
        add(job, to: &record)
        add(report.permitWait, to: &record)
        if let last = report.attempts.last { add(last, to: &record) }
        record.add(.source, source)
        return record
    }

    /// The wait for a permit before all that, in the words of `explain`.
    private static func permit(_ report: JobReport) -> String { report.permitText.map { "; \($0)" } ?? "" }

    private static func add(_ wait: Duration?, to record: inout JournalRecord) {
        record.add(.permitWaitMicroseconds, wait.map { $0.saturatedNanoseconds / 1000 })
    }

    /// Whether it goes on as a kept job, where a rule would have it so.
    private static func further(_ report: JobReport) -> String {
        if let job = report.keptJob {
            return job.isReplayed
                ? "; the request is that of the kept job \(job.id), which goes on"
                : "; the request goes on as a kept job"
        }
        return report.notKeptBecause.map { "; the request is not kept: \($0)" } ?? ""
    }

    static func neverFailsBreached(_ job: JobContext, _ failure: Failure) -> JournalRecord {
        var record = JournalRecord(
            .error,
            .neverFailsBreached,
            "job \(job.id): a failure reached the caller of route \(job.route.name), which never fails: "
                + "\(failure.kind.rawValue): \(failure.detail)"
        )
        add(job, to: &record)
        record.add(.failureKind, failure.kind.rawValue)
        record.add(.detail, failure.detail)
        return record
    }

    static func pinsMissed(_ job: JobContext, _ exchange: Exchange) -> JournalRecord {
        var record = JournalRecord(
            .warning,
            .pinsMissed,
            "job \(job.id): the upstream of route \(job.route.name) showed none of the pinned keys; tls.pins only "
                + "reports, so the request was sent"
        )
        add(job, to: &record)
        record.add(.upstreamAddress, exchange.address)
        return record
    }

    static func requestRefused(_ refused: RefusedRequest) -> JournalRecord {
        let isAPI = refused.path.hasPrefix("/v1/")
        let place = refused.route.map { " on route \($0)" } ?? (isAPI ? " for the API" : "")
        var record = JournalRecord(
            requestRefused(refused),
            "\(refused.method?.rawValue ?? "a request")\(place) refused with \(refused.status.rawValue): \(refused.detail)"
        )
        record.add(.route, refused.route)
        record.add(.httpMethod, refused.method?.rawValue)
        record.add(.urlPath, refused.path.isEmpty ? nil : refused.path)
        record.add(.httpStatus, refused.status.rawValue)
        record.add(.failureKind, refused.code)
        record.add(.source, "relay")
        record.add(.detail, refused.detail)
        add(refused.client, to: &record)
        return record
    }

    static func jobFailed(_ failure: Failure) -> JournalRecord.Kind {
        // An upstream's refusal that reached the caller is the caller's business, not the operator's alarm; but a relay
        // that may not enter, or comes too often, is the operator's.
        let isOurs = [401, 403, 407, 429].contains(failure.status?.rawValue ?? 0)
        let isRefusal = failure.status?.class == .clientError || failure.status?.class == .redirection
        return JournalRecord.Kind(
            isOurs ? .warning : isRefusal || failure.isCallers ? .info : .error,
            .jobFailed
        )
    }

    /// `canceller` is who ends what is cancelled.
    static func jobFailed(
        _ report: JobReport,
        _ job: JobContext,
        _ failure: Failure,
        canceller: String
    ) -> JournalRecord {
        let attempts = report.attempts
        let end =
            failure.kind == .cancelled
            ? "was cancelled: \(canceller)" : "failed: \(failure.kind.rawValue): \(failure.detail)"
        var record = JournalRecord(
            jobFailed(failure),
            "job \(job.id): \(job.method.rawValue) on route \(job.route.name) \(end)\(permit(report))"
                + (attempts.isEmpty ? "" : "\n\(timeline(attempts))")
        )
        add(job, to: &record)
        add(report.permitWait, to: &record)
        if let last = attempts.last {
            add(last, to: &record)
        } else {
            record.add(.failureKind, failure.kind.rawValue)
            record.add(.sent, failure.sent.rawValue)
        }
        record.add(.detail, failure.detail)
        return record
    }

    /// One line for each attempt, in the words of `explain`.
    private static func timeline(_ attempts: [Attempt]) -> String {
        let attempts = attempts.asBegun
        guard let start = attempts.first?.beganAt else { return "" }
        return attempts.map { attempt in
            let at = seconds(.milliseconds(attempt.beganAt - start))
            let next = attempt.next.map { ", \(consequence($0))" } ?? ""
            let rule = attempt.rule.map { " (rule \($0))" } ?? ""
            let held = attempt.heldBack.map { "; rule \($0.rule): \($0.reason.text)" }.joined()
            let word = attempt.lookUp.map { " (\($0.rawValue))" } ?? ""
            let name = "\(attempt.lookUp == nil ? "attempt" : "look-up") \(attempt.number)\(word)"
            return "  +\(at)  \(name)  \(what(attempt))\(next)\(rule)\(held)"
        }.joined(separator: "\n")
    }

    private static func what(_ attempt: Attempt) -> String {
        let place = attempt.upstream + (attempt.exchange?.address.map { " \($0)" } ?? "")
        let outcome: String
        if let failure = attempt.failure {
            outcome = failure.kind == .httpStatus ? "\(failure.status?.rawValue ?? 0)" : failure.kind.rawValue
        } else {
            outcome = "\(attempt.status?.rawValue ?? 0)"
        }
        return "\(outcome) after \(seconds(attempt.duration)) (upstream \(place))"
    }

    private static func consequence(_ next: Attempt.Next) -> String {
        switch next {
        case .retry(let wait): "retry in \(seconds(wait))"
        case .refreshCredentials: "refresh the credentials and send again"
        case .failover(let upstream): "fail over to \(upstream ?? "another upstream")"
        case .respond(let source): "answer with the \(source.rawValue)"
        case .respondAndKeep(let source): "answer with the \(source.rawValue) and go on as a kept job"
        case .quickRecovery: "taken as a success"
        case .verify(let wait): "ask the upstream in \(seconds(wait)) what became of it"
        case .follow(let wait, _): "look at the operation in \(seconds(wait))"
        case .hedge: "go on with the other sending"
        case .fail, .deadLetter: "give up"
        case .pauseRoute: "pause the route"
        case .hold: "hold the job"
        }
    }

    /// Seconds with three places: `5.000s`.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.saturatedNanoseconds / 1_000_000)
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)s"
    }

    static func add(_ job: JobContext, to record: inout JournalRecord) {
        record.add(.route, job.route.name)
        record.add(.jobID, job.id.description)
        record.add(.httpMethod, job.method.rawValue)
        record.add(.urlPath, job.path)
        record.add(.maxAttempts, job.maxAttempts)
        add(job.client, to: &record)
    }

    private static func add(_ client: ClientIdentity?, to record: inout JournalRecord) {
        guard let client, client.user != JobRecord.Submitter.ofNotices.user else { return }
        record.add(.clientUser, client.user)
        // The user that submitted a kept job is known, but not the process.
        if client.process > 0 { record.add(.clientProcess, client.process) }
        record.add(.clientUnit, client.unit)
    }

    static func add(_ attempt: Attempt, to record: inout JournalRecord) {
        record.add(.attempt, attempt.number)
        record.add(.upstream, attempt.upstream)
        record.add(.upstreamAddress, attempt.exchange?.address)
        record.add(.durationMicroseconds, attempt.duration.saturatedNanoseconds / 1000)
        record.add(.httpStatus, attempt.status?.rawValue)
        record.add(.rule, attempt.rule)
        guard let failure = attempt.failure else { return }
        record.add(.failureKind, failure.kind.rawValue)
        record.add(.sent, failure.sent.rawValue)
    }
}
