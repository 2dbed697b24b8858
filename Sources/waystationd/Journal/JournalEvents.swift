import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayRoute
import RelaySystemd
import Synchronization

/// Turns what happened into records worth reading.
///
/// A failed attempt is a record when something follows it; how a job ended is one record. Per route and kind the
/// first records of a minute are written whole and the others counted.
final class JournalEvents: JobListener {
    private let journal: Journal
    private let throttle = Mutex(RecordThrottle())
    private let isAborting = Atomic<Bool>(false)
    private let level: Mutex<JournalRecord.Priority>

    init(journal: Journal, level: JournalRecord.Priority) {
        self.journal = journal
        self.level = Mutex(level)
    }

    func setLevel(_ level: JournalRecord.Priority) { self.level.withLock { $0 = level } }

    func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .attemptFailed(let job, let attempt):
            guard let next = attempt.next, next != .fail else { return }
            write(JobRecords.attemptFailed, job.route.name, attempt.failure?.kind.rawValue) {
                JobRecords.attemptFailed(job, attempt, next)
            }
        case .lookedUp(let job, let attempt):
            write(JobRecords.lookedUp, job.route.name, attempt.failure?.kind.rawValue) {
                JobRecords.lookedUp(job, attempt)
            }
        case .ended(let report): ended(report)
        case .pinsMissed(let job, let exchange):
            write(JobRecords.pinsMissed(job, exchange), job.route.name, .tlsCertificateError)
        case .requestRefused(let refused):
            write(
                JobRecords.requestRefused(refused),
                refused.route ?? "(api)",
                refused.code
            ) { JobRecords.requestRefused(refused) }
        case .bodyFoundNoSpace(let route): write(DurableRecords.noSpace(route), route, nil)
        case .jobsChanged(let change): journal.record(DurableRecords.changed(change))
        case .runChanged(let run):
            if let record = DurableRecords.changed(run) { journal.record(record) }
        case .routePaused(let route, let pause): write(DurableRecords.paused(route, pause), route, nil)
        case .routeShut(let route, let until): write(DurableRecords.shut(route, until), route, nil)
        case .breakerChanged(let route, let change):
            write(DurableRecords.breaker(route, change), route, .breakerOpen)
        case .routeResumed(let route, let by): write(DurableRecords.resumed(route, by), route, nil)
        case .credentialRefreshed(let name, let expiresIn): refreshed(name, expiresIn)
        case .credentialFailed(let name, let detail): failed(name, detail)
        case .notice(let kind, let detail, let act): noticed(kind, detail, act)
        // An action's one record tells of all its changes; the other events are told where they happen, with more.
        case .accepted, .attemptBegan, .changed, .dropped, .pauseWanted, .elsewhere: break
        }
    }

    private func noticed(_ event: EventKind, _ detail: String?, _ act: OperatorAct?) {
        guard let kind = JournalRecord.Kind(event) else { return }
        guard let act else {
            return journal.record(JournalRecord(kind, detail ?? String(event.rawValue.sentence)))
        }
        var record = JournalRecord(kind, "\(act.by?.description ?? "an operator") \(act.text)")
        record.add(.route, act.route)
        record.add(.clientUser, act.by?.user)
        record.add(.upstream, act.upstream)
        write(record, act.route, nil)
    }

    private func ended(_ report: JobReport) {
        if case .action = report.cause { return }
        guard let context = report.context else {
            if let record = DurableRecords.endedInStore(report) { write(record, report.route, nil) }
            return
        }
        if report.isDurable {
            if let kind = DurableRecords.ended(report) {
                write(kind, report.route, report.failure?.kind.rawValue) {
                    DurableRecords.ended(report, context, kind)
                }
            }
            return
        }
        let last = report.attempts.last?.failure?.kind.rawValue
        if let failure = report.failure {
            if report.isBreach {
                write(JobRecords.neverFailsBreached(context, failure), report.route, failure.kind)
            }
            let canceller =
                isAborting.load(ordering: .relaxed) ? "the relay was stopped at once" : "the caller hung up"
            write(JobRecords.jobFailed(failure), report.route, failure.kind.rawValue) {
                JobRecords.jobFailed(report, context, failure, canceller: canceller)
            }
        } else if !report.isFromUpstream {
            write(JobRecords.fallbackServed, report.route, last) {
                JobRecords.fallbackServed(report, context)
            }
        } else if report.isRecovered {
            let first = report.attempts.first?.failure?.kind.rawValue
            write(JobRecords.recovered, report.route, first) { JobRecords.recovered(report, context) }
        }
    }

    private func refreshed(_ name: String, _ expiresIn: Duration?) {
        var record = JournalRecord(
            .info,
            .credentialRefreshed,
            "credential \(name) refreshed"
                + (expiresIn.map { ", valid for \(DurationText.text($0))" } ?? "")
        )
        record.add(.credential, name)
        record.add(.expiresInSeconds, expiresIn.map { $0.components.seconds })
        write(record, name, nil)
    }

    private func failed(_ name: String, _ detail: String) {
        var record = JournalRecord(
            .error,
            .credentialFailed,
            "credential \(name) could not be refreshed: \(detail)"
        )
        record.add(.credential, name)
        record.add(.failureKind, FailureKind.credentialsFailed.rawValue)
        record.add(.detail, detail)
        write(record, name, .credentialsFailed)
    }

    /// From now on it is the relay itself that cancels.
    func abort() { isAborting.store(true, ordering: .relaxed) }

    /// When there is a minute to be ended.
    var due: Int64? { throttle.withLock { $0.due } }

    /// Writes the counts whose minute is over.
    func summarise() {
        for summary in throttle.withLock({ $0.windowsEnded(at: SystemClock.monotonic()) }) {
            journal.record(summary.record)
        }
    }

    /// Writes every count there is; nothing is to follow.
    func finish() {
        for summary in throttle.withLock({ $0.finish() }) { journal.record(summary.record) }
    }

    private func write(_ record: JournalRecord, _ route: String, _ failure: FailureKind?) {
        write(record.kind, route, failure?.rawValue) { record }
    }

    /// Makes the record only where it is written: in an outage most are counted alone.
    ///
    /// `word` is the kind of the failure, or the code of a refusal.
    private func write(
        _ kind: JournalRecord.Kind,
        _ route: String,
        _ word: String?,
        _ record: () -> JournalRecord
    ) {
        guard kind.priority <= level.withLock({ $0 }) else { return }
        let key = RecordThrottle.Key(route: route, kind: word ?? "success", id: kind.id)
        guard throttle.withLock({ $0.admits(key, at: SystemClock.monotonic()) }) else { return }
        journal.record(record())
    }
}

extension JournalRecord.Kind {
    /// The kind that the event's row names by its priority (syslog(3)), its name and its id; nil where the row names none.
    init?(_ event: EventKind) {
        guard let words = event.rawValue.line("Journal: ")?.split(separator: " "), words.count == 3,
            let priority = UInt8(words[0]).flatMap(JournalRecord.Priority.init)
        else { return nil }
        self.init(priority, MessageID(String(words[1]), String(words[2])))
    }
}
