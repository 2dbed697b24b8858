import RelayCore
import RelayEngine
import RelayPosix
import RelaySystemd
import Synchronization

/// Turns what happened to jobs into records worth reading.
///
/// A failed attempt is a record when something follows it; how a job ended is one record. Per route and kind the
/// first records of a minute are written whole and the others counted.
final class JournalEvents: EventSink {
    private let journal: Journal
    private let feed: EventFeed
    private let throttle = Mutex(RecordThrottle())
    private let isAborting = Atomic<Bool>(false)
    private let level: Mutex<JournalRecord.Priority>

    init(journal: Journal, feed: EventFeed, level: JournalRecord.Priority) {
        self.journal = journal
        self.feed = feed
        self.level = Mutex(level)
    }

    func setLevel(_ level: JournalRecord.Priority) { self.level.withLock { $0 = level } }

    func record(_ event: RelayEvent) {
        tell(event)
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
        case .requestRefused(let refused):
            write(
                JobRecords.requestRefused(refused),
                refused.route ?? "(api)",
                FailureKind(rawValue: refused.code)
            )
        case .durableEnded(let end):
            if let record = DurableRecords.ended(end) {
                write(record, end.context.route.name, end.failure?.kind)
            }
        case .durableExpired(let id, let route):
            write(DurableRecords.expired(id, route), route, .deadlineExceeded)
        case .durableEndedUnsent(let job):
            if let record = DurableRecords.ended(job) { write(record, job.route, nil) }
        case .durableEndsUntold(let count): journal.record(DurableRecords.untold(count))
        case .bodyFoundNoRoom(let route): write(DurableRecords.noRoom(route), route, nil)
        case .jobsChanged(let change): journal.record(DurableRecords.changed(change))
        case .routePaused(let route, let pause): write(DurableRecords.paused(route, pause), route, nil)
        case .routeResumed(let route): write(DurableRecords.resumed(route), route, nil)
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

    /// Tells those who listen what they are not told elsewhere: the durable jobs speak for themselves.
    private func tell(_ event: RelayEvent) {
        let told: FeedEvent
        switch event {
        case .attemptFailed(let job, let attempt) where job.history == nil:
            guard let event = FeedEvent(attempt, of: job) else { return }
            told = event
        case .recovered(let job, let attempts) where job.history == nil:
            var event = FeedEvent(.jobRecovered, route: job.route.name, job: job.id, user: job.client?.user)
            event.attempt = attempts.count
            told = event
        case .credentialRefreshed(let name, let expiresIn):
            var event = FeedEvent(.credentialsRefreshed)
            event.detail =
                "credential \(name)" + (expiresIn.map { ", valid for \(DurationText.text($0))" } ?? "")
            told = event
        case .credentialFailed(let name, let detail):
            var event = FeedEvent(.credentialsFailed)
            event.failureKind = .credentialsFailed
            event.detail = "credential \(name): \(detail)"
            told = event
        default: return
        }
        feed.publish(told, at: SystemClock.wall() / 1_000_000)
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
