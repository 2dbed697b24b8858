package import RelayBase
package import RelayJobs
import Testing

// The calls of tests, with what most of them say left out.
extension StoreUnderTest {
    package func id() -> JobID {
        lastID += 1
        return JobID(milliseconds: now.wall, random: (0, lastID))
    }

    package func newJob(
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
    package func accept(
        _ route: String = "hooks",
        body: String = "body",
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> JobID {
        let job = newJob(route, body: body, change)
        #expect(try await store.enqueue([job], at: now) == [.accepted])
        return job.record.id
    }

    package func claim(_ route: String = "hooks", _ limit: Int = 100) async throws -> [Claim] {
        try await store.claim(route, limit: limit, upstream: "eu", at: now).claims
    }

    @discardableResult
    package func settle(
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

    /// Goes on after a short page: a store looks at so many positions at once, and they jump with a crash.
    @discardableResult
    package func apply(
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
            all.superseded += report.superseded
            all.next = report.next
        } while all.next != nil && all.matched < limit
        return all
    }

    @discardableResult
    package func apply(_ action: JobAction, _ id: JobID, by user: UInt32? = 0) async throws -> ActionReport {
        try await apply(action, JobFilter(ids: [id]), by: .user(user.map { Principal($0) }, isBulk: false))
    }

    package func job(_ id: JobID) async throws -> StoredJob { try #require(await store.job(id)) }

    package func state(_ id: JobID) async throws -> JobState? { try await store.job(id)?.state }

    /// All that match, by as many pages as it takes.
    package func list(
        _ filter: JobFilter = JobFilter(),
        _ order: ListOrder = .oldestFirst
    ) async throws -> [StoredJob] {
        var jobs: [StoredJob] = []
        var cursor: JobCursor?
        repeat {
            let page = try await store.jobs(filter, order: order, limit: 500, after: cursor)
            jobs += page.jobs
            cursor = page.next
        } while cursor != nil
        return jobs
    }

    package func sweep(
        _ retention: Retention = Retention(),
        limit: Int = 100
    ) async throws -> SweepReport {
        try await store.sweep(retention, limit: limit, at: now)
    }

    package func counts() async throws -> [JobState: Int] {
        try await store.counters(at: now, withDue: true).counts.reduce(into: [:]) {
            $0[$1.key.state, default: 0] += $1.value
        }
    }

    /// The routes that the store has told have got work.
    package func ready() async throws -> [String] {
        try await hear()
        return news.ready.values
    }

    /// The reports of ended jobs that the store has told without being asked.
    package func ended() async throws -> [String] {
        try await hear()
        return news.ended.values.map(\.text)
    }
}
