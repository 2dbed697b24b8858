import RelayCore
import RelayPosix
import RelaySystemd
import Synchronization

/// Turns what happened to jobs into records worth reading.
///
/// A failed attempt is a record when something follows it; how a job ended is one record. Per route and kind the
/// first records of a minute are written whole and the others counted.
final class JournalEvents: EventSink {
    private let journal: Journal
    private let throttle = Mutex(RecordThrottle())
    private let isAborting = Atomic<Bool>(false)
    private let level: Mutex<JournalRecord.Priority>

    init(journal: Journal, level: JournalRecord.Priority) {
        self.journal = journal
        self.level = Mutex(level)
    }

    func setLevel(_ level: JournalRecord.Priority) { self.level.withLock { $0 = level } }

    func record(_ event: RelayEvent) {
        switch event {
        case .attemptFailed(let job, let attempt):
            guard let next = attempt.next, next != .fail else { return }
            write(JobRecords.attemptFailed(job, attempt, next), job.route.name, attempt.failure?.kind)
        case .recovered(let job, let attempts):
            write(JobRecords.recovered(job, attempts), job.route.name, attempts.first?.failure?.kind)
        case .fallbackServed(let job, let source, let rule, let attempts):
            write(
                JobRecords.fallbackServed(job, source, rule, attempts),
                job.route.name,
                attempts.last?.failure?.kind
            )
        case .neverFailsBreached(let job, let failure):
            write(JobRecords.neverFailsBreached(job, failure), job.route.name, failure.kind)
        case .pinsMissed(let job, let exchange):
            write(JobRecords.pinsMissed(job, exchange), job.route.name, .tlsCertificateError)
        case .jobFailed(let job, let failure, let attempts):
            let canceller =
                isAborting.load(ordering: .relaxed) ? "the relay was stopped at once" : "the caller hung up"
            let record = JobRecords.jobFailed(job, failure, attempts, canceller: canceller)
            write(record, job.route.name, failure.kind)
        case .credentialRefreshed(let name, let expiresIn):
            var record = JournalRecord(
                .info,
                .credentialRefreshed,
                "credential \(name) refreshed"
                    + (expiresIn.map { ", valid for \(DurationText.text($0))" } ?? "")
            )
            record.add(.credential, name)
            record.add(.expiresInSeconds, expiresIn.map { $0.components.seconds })
            write(record, name, nil)
        case .credentialFailed(let name, let detail):
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
    }

    /// From now on it is the relay itself that cancels.
    func abort() { isAborting.store(true, ordering: .relaxed) }

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

    private func write(_ record: JournalRecord, _ route: String, _ kind: FailureKind?) {
        guard record.priority <= level.withLock({ $0 }) else { return }
        let key = RecordThrottle.Key(route: route, kind: kind?.rawValue ?? "success", id: record.id)
        guard throttle.withLock({ $0.admits(key, at: SystemClock.monotonic()) }) else { return }
        journal.record(record)
    }
}
