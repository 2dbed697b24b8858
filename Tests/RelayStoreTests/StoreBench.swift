import Glibc
import RelayBase
import RelayCore
import RelayJobs
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayStore

/// Every store that the conformance suite is run on.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite
    case memory

    var testDescription: String { rawValue }
}

/// One store with a clock the test moves.
final class StoreBench {
    let kind: StoreKind
    let scratch = TemporaryFolder()
    private(set) var store: any JobStore
    var now = JobMoment(wall: 1_800_000_000_000, steady: 5_000)
    private var nextID: UInt64 = 1
    private let events: JobStoreEvents
    private let readyRoutes: Log<String>
    private let endedJobs: Log<JobChange>
    private let orderingKeysInMemory: Int
    private let eraseDelay: Duration
    private let fault: StoreFault?

    /// The values that callbacks have told.
    final class Log<Value: Sendable>: Sendable {
        private let kept = Mutex<[Value]>([])
        func add(_ values: some Sequence<Value>) { kept.withLock { $0 += values } }
        var values: [Value] { kept.withLock { $0 } }
    }

    init(
        _ kind: StoreKind,
        orderingKeysInMemory: Int = 32_768,
        eraseDelay: Duration = .seconds(5),
        fault: StoreFault? = nil
    ) async throws {
        self.fault = fault
        self.kind = kind
        self.eraseDelay = eraseDelay
        self.orderingKeysInMemory = orderingKeysInMemory
        let log = Log<String>()
        readyRoutes = log
        let ended = Log<JobChange>()
        endedJobs = ended
        var events = JobStoreEvents()
        events.ready = { log.add($0.keys) }
        events.ended = { ended.add($0) }
        self.events = events
        store = MemoryJobStore(at: now, events: events)
        if kind == .sqlite { store = try await open() }
    }

    /// The routes that the store has told have got work.
    func ready() async throws -> [String] {
        try await hear()
        return readyRoutes.values
    }

    /// The reports of ended jobs that the store has told without being asked.
    func ended() async throws -> [String] {
        try await hear()
        return endedJobs.values.map(\.text)
    }

    /// The news that comes with an answer is told behind it, and before the next answer.
    private func hear() async throws { _ = try await store.settle([], at: now) }

    private func open() async throws -> SQLiteJobStore {
        var options = StoreOptions(directory: scratch.path)
        options.events = events
        options.ballast = 1 << 20
        options.eraseDelay = eraseDelay
        options.readTimeout = .seconds(60)
        options.orderingKeysInMemory = orderingKeysInMemory
        options.fault = fault
        return try await SQLiteJobStore.open(options, at: now)
    }

    /// Lets the process end and the next one begin; what was running has been through a crash.
    func reopen(after milliseconds: Int64 = 1_000) async throws {
        await store.close()
        // Another boot: the steady clock starts anew.
        now = JobMoment(wall: now.wall + milliseconds, steady: 1_000)
        if let memory = store as? MemoryJobStore {
            store = MemoryJobStore(afterCrashOf: memory, at: now)
        } else {
            store = try await open()
        }
    }

    /// Makes the rows that others have of plain jobs, of all or of one, which nobody is to notice.
    func unfold(_ id: JobID? = nil) async throws {
        guard let store = store as? SQLiteJobStore else { return }
        try await store.write(.other, weight: 1) { writer throws(StoreError) in
            guard let id else {
                let all = try writer.database.statement("SELECT seq FROM plain ORDER BY seq").numbers()
                for seq in all { try writer.unfold(seq) }
                return
            }
            if let seq = try writer.seq(of: id) { try writer.unfold(seq) }
        }
    }

    func advance(_ milliseconds: Int64) {
        now.wall += milliseconds
        now.steady += milliseconds
    }

    /// Somebody sets the clock.
    func stepWall(_ milliseconds: Int64) { now.wall += milliseconds }

    func id() -> JobID {
        nextID += 1
        return JobID(milliseconds: now.wall, random: (0, nextID))
    }

    /// A body with which a job is not kept in memory until its claim.
    static let unremembered = String(repeating: "b", count: 4_096)

    func newJob(
        _ route: String = "hooks",
        body: String = "body",
        _ change: (inout NewJob) -> Void = { _ in }
    ) -> NewJob {
        var fields = HeaderFields()
        fields.append("Content-Type", "text/plain")
        fields.append("X-Twice", "1")
        fields.append("X-Twice", "2")
        let record = JobRecord(id: id(), route: route, method: .post, target: "orders/7?x=1", fields: fields)
        var job = NewJob(record, body: .bytes(Array(body.utf8)))
        change(&job)
        return job
    }

    @discardableResult
    func accept(
        _ route: String = "hooks",
        body: String = "body",
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> JobID {
        let job = newJob(route, body: body, change)
        #expect(try await store.enqueue([job], at: now) == [.accepted])
        return job.record.id
    }

    func claim(_ route: String = "hooks", _ limit: Int = 100) async throws -> [Claim] {
        try await store.claim(route, limit: limit, upstream: "eu", at: now).claims
    }

    @discardableResult
    func settle(
        _ claim: Claim,
        _ ending: Settlement.Ending,
        attempts: Int = 1,
        answer: StoredAnswer? = nil,
        kind: FailureKind? = nil
    ) async throws -> Settlement.Answer {
        let records = (0..<attempts).map { index in
            var record = Attempt(
                number: index + 1,
                upstream: "eu",
                beganAt: now.wall,
                duration: .milliseconds(index + 1)
            )
            record.status = 503
            record.failure = kind.map { Failure($0, sent: .answered, "no", status: 503) }
            return record
        }
        let settlement = Settlement(claim.token, ending, attempts: records, answer: answer, failureKind: kind)
        return try await store.settle([settlement], at: now)[0]
    }

    @discardableResult
    /// Goes on after a short page: a store looks at so many positions at once, and they jump with a crash.
    func apply(
        _ action: JobAction,
        _ filter: JobFilter,
        limit: Int = 100,
        by origin: ActionOrigin = .user(0, isBulk: true)
    ) async throws -> ActionReport {
        var all = ActionReport()
        repeat {
            let report = try await store.apply(
                action,
                to: filter,
                limit: limit - all.matched,
                after: all.next,
                by: origin,
                at: now
            )
            all.matched += report.matched
            all.changes += report.changes
            all.expunged += report.expunged
            all.spared += report.spared
            all.next = report.next
        } while all.next != nil && all.matched < limit
        return all
    }

    @discardableResult
    func apply(_ action: JobAction, _ id: JobID, by user: UInt32? = 0) async throws -> ActionReport {
        try await apply(action, JobFilter(ids: [id]), by: .user(user.map { Principal($0) }, isBulk: false))
    }

    func job(_ id: JobID) async throws -> StoredJob { try #require(await store.job(id)) }

    func state(_ id: JobID) async throws -> JobState? { try await store.job(id)?.state }

    func counts() async throws -> [JobState: Int] {
        try await store.counters(at: now, withDue: true).counts.reduce(into: [:]) {
            $0[$1.key.state, default: 0] += $1.value
        }
    }
}
