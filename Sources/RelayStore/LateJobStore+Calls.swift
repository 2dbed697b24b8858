package import RelayBase
package import RelayJobs

// Every call goes on to the store, or is refused as long as there is none.
extension LateJobStore: JobStore {
    package func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        try await inUse().enqueue(jobs, at: now)
    }

    package func enqueue(
        _ offered: OfferedJob,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void
    ) -> Bool { store?.enqueue(offered, at: now, told) ?? false }

    package func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        try await inUse().claim(route, limit: limit, upstream: upstream, at: now)
    }

    package func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        try await inUse().begin(next, at: now)
    }

    package func note(_ attempt: Attempt, of id: JobID, at now: JobMoment) async throws(StoreError) -> Bool {
        try await inUse().note(attempt, of: id, at: now)
    }

    package func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        try await inUse().settle(settlements, at: now)
    }

    package func settle(
        _ settlement: Settlement,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) -> Bool { store?.settle(settlement, at: now, told) ?? false }

    package func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport {
        try await inUse().apply(order, at: now)
    }

    package func sweep(
        _ retention: Retention,
        limit: Int,
        at now: JobMoment
    ) async throws(StoreError) -> SweepReport {
        try await inUse().sweep(retention, limit: limit, at: now)
    }

    package func job(_ id: JobID) async throws(StoreError) -> StoredJob? { try await inUse().job(id) }

    package func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try await inUse().whole(id, extent)
    }

    package func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try await inUse().jobs(filter, order: order, limit: limit, after: cursor)
    }

    package func body(of id: JobID) async throws(StoreError) -> StoredBody? { try await inUse().body(of: id) }

    package func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? {
        try await inUse().answer(of: id)
    }

    package func attempts(
        of id: JobID,
        after number: Int,
        limit: Int
    ) async throws(StoreError) -> [Attempt] {
        try await inUse().attempts(of: id, after: number, limit: limit)
    }

    package func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        try await inUse().piece(index, of: file)
    }

    package func spool() async throws(StoreError) -> any BodySpool { try await inUse().spool() }

    package func counters(at now: JobMoment, withDue: Bool) async throws(StoreError) -> JobCounters {
        try await inUse().counters(at: now, withDue: withDue)
    }

    package func failures(
        of route: String?,
        at now: JobMoment
    ) async throws(StoreError) -> [FailureKind: [Int]] {
        try await inUse().failures(of: route, at: now)
    }

    package func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] {
        try await inUse().unfinishedByUser()
    }

    package func ending(
        by end: Int64,
        of routes: [String]
    ) async throws(StoreError) -> [String: EndingJobs] {
        try await inUse().ending(by: end, of: routes)
    }

    package func facts() async throws(StoreError) -> StoreFacts { standing }

    package func writing(at now: Instant) -> Duration { store?.writing(at: now) ?? .zero }

    package func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try await inUse().pause(route, pause, at: now)
    }

    package func pauses() async throws(StoreError) -> [String: RoutePause] { try await inUse().pauses() }

    package func begin(_ run: ActionRun, at now: JobMoment) async throws(StoreError) -> ActionRun? {
        try await inUse().begin(run, at: now)
    }

    package func advance(
        _ run: Int64,
        by step: RunStep,
        at now: JobMoment
    ) async throws(StoreError) -> RunAdvance? { try await inUse().advance(run, by: step, at: now) }

    package func end(
        _ run: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at now: JobMoment
    ) async throws(StoreError) -> ActionRun? {
        try await inUse().end(run, as: state, by: by, failure: failure, at: now)
    }

    package func runs() async throws(StoreError) -> [ActionRun] { try await inUse().runs() }
}
