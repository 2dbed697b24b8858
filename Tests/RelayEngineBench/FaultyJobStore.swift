package import RelayCore
package import RelayTestSupport
package import Synchronization

/// A store that fails when a test says so.
package final class FaultyJobStore: JobStore {
    package let inner: MemoryJobStore
    private let settleFaults = Mutex<[StoreError]>([])
    private let enqueueFault = Mutex<StoreError?>(nil)
    private let beginFault = Mutex<StoreError?>(nil)
    private let settled = Mutex<Settlement?>(nil)
    /// How often somebody looked at a job.
    package let looks = Atomic<Int>(0)
    private let interludes = Mutex<[Call: @Sendable () async -> Void]>([:])

    /// What can be held back after it was done.
    package enum Call: Hashable {
        case enqueue
        case claim
        case begin
        case settle
        case apply(JobAction)
    }

    package init(_ inner: MemoryJobStore) { self.inner = inner }

    /// The next settlements fail like that, one after the other.
    package func failSettlements(_ errors: [StoreError]) { settleFaults.withLock { $0 = errors } }
    package func failBegin(_ error: StoreError) { beginFault.withLock { $0 = error } }
    package func failAcceptance(_ error: StoreError?) { enqueueFault.withLock { $0 = error } }
    /// Does that after the next such call, before its caller learns of it.
    package func after(_ call: Call, _ body: @escaping @Sendable () async -> Void) {
        interludes.withLock { $0[call] = body }
    }

    private func interlude(_ call: Call) async {
        await interludes.withLock { $0.removeValue(forKey: call) }?()
    }

    /// What the store was told last.
    package var lastSettlement: Settlement? { settled.withLock { $0 } }
    package var settlementsToFail: Int { settleFaults.withLock { $0.count } }

    package func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        if let fault = enqueueFault.withLock({ $0 }), !jobs.allSatisfy(\.hasNoRoom) { throw fault }
        let acceptances = try await inner.enqueue(jobs, at: now)
        await interlude(.enqueue)
        return acceptances
    }

    package func claim(
        _ route: String,
        limit: Int,
        lease: Duration,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        let batch = try await inner.claim(route, limit: limit, lease: lease, upstream: upstream, at: now)
        if !batch.claims.isEmpty { await interlude(.claim) }
        return batch
    }

    package func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        if let fault = beginFault.withLock({ $0.take() }) { throw fault }
        let isBegun = try await inner.begin(next, at: now)
        await interlude(.begin)
        return isBegun
    }

    package func extend(
        _ tokens: [ClaimToken],
        lease: Duration,
        at now: JobMoment
    ) async throws(StoreError) -> [Bool] { try await inner.extend(tokens, lease: lease, at: now) }

    package func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        if let fault = settleFaults.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw fault }
        settled.withLock { $0 = settlements.last }
        let answers = try await inner.settle(settlements, at: now)
        await interlude(.settle)
        return answers
    }

    package func apply(
        _ action: JobAction,
        to filter: JobFilter,
        limit: Int,
        after cursor: JobCursor?,
        spacing: JobSpacing?,
        dryRun: Bool,
        by origin: ActionOrigin,
        at now: JobMoment
    ) async throws(StoreError) -> ActionReport {
        let report = try await inner.apply(
            action,
            to: filter,
            limit: limit,
            after: cursor,
            spacing: spacing,
            dryRun: dryRun,
            by: origin,
            at: now
        )
        await interlude(.apply(action))
        return report
    }

    package func sweep(
        _ retention: Retention,
        limit: Int,
        at now: JobMoment
    ) async throws(StoreError) -> SweepReport {
        try await inner.sweep(retention, limit: limit, at: now)
    }

    package func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        looks.add(1, ordering: .relaxed)
        return try await inner.job(id)
    }

    package func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try await inner.jobs(filter, order: order, limit: limit, after: cursor)
    }

    package func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try await inner.whole(id, extent)
    }

    package func body(of id: JobID) async throws(StoreError) -> StoredBody? { try await inner.body(of: id) }
    package func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? {
        try await inner.answer(of: id)
    }

    package func attempts(
        of id: JobID,
        after number: Int,
        limit: Int
    ) async throws(StoreError) -> [Attempt] {
        try await inner.attempts(of: id, after: number, limit: limit)
    }

    package func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        try await inner.piece(index, of: file)
    }

    package func spool() async throws(StoreError) -> any BodySpool { try await inner.spool() }
    package func counters(at now: JobMoment) async throws(StoreError) -> JobCounters {
        try await inner.counters(at: now)
    }
    package func failures(
        of route: String?,
        at now: JobMoment
    ) async throws(StoreError) -> [FailureKind: [Int]] {
        try await inner.failures(of: route, at: now)
    }

    package func nextDue(_ route: String) async throws(StoreError) -> Int64? {
        try await inner.nextDue(route)
    }
    package func facts() async throws(StoreError) -> StoreFacts { try await inner.facts() }
    package func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try await inner.pause(route, pause, at: now)
    }
    package func pauses() async throws(StoreError) -> [String: RoutePause] { try await inner.pauses() }
    package func close() async { await inner.close() }
}
