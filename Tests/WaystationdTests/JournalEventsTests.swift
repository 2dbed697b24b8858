import RelayBase
import RelayEngineBench
import RelayJobs
import RelayServer
import RelaySystemd
import RelayTestSupport
import Synchronization
import Testing

@testable import waystationd

extension JobCause {
    private static let job = """
        ROUTE=hooks JOB_ID=ID HTTP_METHOD=PUT URL_PATH=/x MAX_ATTEMPTS=10 CLIENT_UID=1000 CLIENT_UNIT=shop.service
        """
    private static let attempt = "UPSTREAM=one UPSTREAM_ADDR=192.0.2.1:80 DURATION_USEC=0"
    private static let inStore = "JOB_ID=ID ROUTE=hooks CLIENT_UID=1000"

    private static func failed(_ rule: String, _ then: String, _ fields: String) -> String {
        """
        notice attempt_failed: job ID: attempt 1 on route hooks failed: 503 after 0.000s \
        (upstream one 192.0.2.1:80), \(then) (rule \(rule))
        \(job) ATTEMPT=1 \(attempt) HTTP_STATUS=503 RULE=\(rule) FAILURE_KIND=http_status SENT=answered \(fields)
        """
    }

    private static func action(_ action: JobAction, _ more: String = "") -> String {
        "notice jobs_changed: uid 0: \(action.rawValue) of job ID: 1 job changed\(more)\nJOB_ID=ID ROUTE=hooks CLIENT_UID=0"
    }

    /// The journal's records of it: for each a line with what it says and one with its fields.
    fileprivate var written: [String] {
        switch self {
        // As it should be; and of a bulk action whoever asked for it tells, once.
        case .delivered, .cancelledWithOthers: []
        case .retried:
            [JobCause.failed("later", "retry in 5.000s", "RECOVERY=retry NEXT_ATTEMPT_USEC=5000000")]
        case .heldByRule: [JobCause.failed("h", "hold the job", "RECOVERY=hold")]
        case .pausedByRule:
            [
                JobCause.failed("p", "pause the route", "RECOVERY=pause_route"),
                """
                warning route_paused: route hooks is paused by rule p: it is ill; `waystation resume hooks` lets it go on
                ROUTE=hooks RULE=p DETAIL=it is ill
                """,
            ]
        case .resumed:
            [
                "notice route_resumed: route hooks goes on\nROUTE=hooks",
                """
                info recovered: job ID: PUT on route hooks was delivered after 2 attempts
                \(JobCause.job) ATTEMPT=2 \(JobCause.attempt) HTTP_STATUS=200
                """,
            ]
        case .failed:
            [
                """
                error job_dead: job ID: PUT on route hooks is dead (exhausted) after 1 attempt, no rule acts on it: \
                http_status: the upstream answered 400
                \(JobCause.job) ATTEMPT=1 \(JobCause.attempt) HTTP_STATUS=400 FAILURE_KIND=http_status SENT=refused \
                DETAIL=the upstream answered 400
                """
            ]
        case .crashed:
            [
                """
                error job_dead: job ID on route hooks is dead (outcome_unknown): the relay stopped while it was in \
                flight, it may have arrived, and it must not be sent twice
                \(JobCause.inStore)
                """
            ]
        case .expired:
            [
                """
                error job_expired: job ID on route hooks: its time ran out before it could be delivered
                \(JobCause.inStore)
                """
            ]
        case .superseded:
            [
                """
                info jobs_changed: job ID on route hooks was superseded: a newer job has its supersede key
                \(JobCause.inStore)
                """
            ]
        case .cancelled: [JobCause.action(.cancel)]
        case .cancelledAsItRuns: [JobCause.action(.cancel, ", 1 of them running and asked to end")]
        case .held: [JobCause.action(.hold)]
        case .released: [JobCause.action(.release)]
        case .retriedByOperator: [JobCause.action(.retry)]
        case .dropped: [JobCause.action(.drop)]
        case .expunged: [JobCause.action(.expunge)]
        }
    }
}

@Suite("The journal's records of a job", .runQueue, .timeLimit(.minutes(1)))
struct JournalEventsTests {
    @Test("Each event is one record with its fields, or none", arguments: JobCause.allCases)
    func causes(cause: JobCause) async throws {
        let records = Mutex<[JournalRecord]>([])
        let journal = Journal { record in
            records.withLock { $0.append(record) }
            return true
        }
        let events = JournalEvents(journal: journal, level: .debug)
        let first = cause.bench([events])
        let id = try await cause.prepare(first)
        await untilIdle()
        #expect(journal.flush(milliseconds: 60_000))
        let before = records.withLock { $0.count }
        let bench = cause == .crashed ? cause.bench([events], after: first) : first
        try await cause.act(on: id, bench)
        await untilIdle()
        #expect(journal.flush(milliseconds: 60_000))
        let written = records.withLock { $0.dropFirst(before) }.map { record in
            let name = record.id?.name ?? ""
            let fields = record.fields.map { "\($0.field.name)=\($0.value)" }.joined(separator: " ")
            return "\(record.priority) \(name): \(record.message)\n\(fields)"
                .replacing(id.description, with: "ID")
        }
        // The records of the newer job are its own.
        #expect(written.filter { !$0.contains("drop of job 0") } == cause.written)
        if cause == .crashed { _ = await first.stop() }
        #expect(await bench.stop())
    }

    @Test("A row that names a record or a counter names one that there is", arguments: EventKind.allCases)
    func rows(kind: EventKind) {
        #expect((kind.rawValue.line("Journal: ") == nil) == (JournalRecord.Kind(kind) == nil))
        #expect((kind.rawValue.line("Counter: ") == nil) == (kind.counter == nil))
        #expect(kind.counter?.metric.labels.count ?? 1 == 1)
    }
}
