package import RelayBase
package import RelayJobs
package import RelayPosix
package import RelayPostgres

/// The job store of a fleet: daemons on several machines that share one PostgreSQL database.
///
/// All that a node does there runs on a thread of its own.
package final class PostgreSQLJobStore: JobStore {
    private let loop: EventLoop
    private let core: LoopBound<FleetCore>
    package let member: FleetMember?
    private let view: NodeView
    private let clock: @Sendable () -> Int64

    private init(_ loop: EventLoop, _ core: LoopBound<FleetCore>, _ view: NodeView, _ options: FleetOptions) {
        self.loop = loop
        self.core = core
        self.view = view
        clock = options.clock
        member = FleetMember(NodeName(options.node), sharesUsers: options.sharesUsers)
    }

    /// Starts the store; it is open as soon as the database can be reached and has let it have the node's name.
    ///
    /// Until then each call throws `unavailable`, with the reason. What no time heals is told as fatal: `locked`,
    /// `newerSchema`.
    package static func start(
        _ options: FleetOptions,
        _ library: PostgresLibrary,
        events: JobStoreEvents
    ) throws(StoreError) -> PostgreSQLJobStore {
        let loop: EventLoop
        do throws(PosixError) { loop = try EventLoop.start(name: "fleet") } catch {
            throw StoreError(.failed, "cannot start the job store's thread: \(error)")
        }
        let view = NodeView()
        let core = loop.bind { FleetCore(options, library, events, view, on: loop) }
        let store = PostgreSQLJobStore(loop, core, view, options)
        loop.spawn { await core.value.openAtLast() }
        return store
    }

    /// Returns once the store is open, or `within` is over.
    ///
    /// - Returns: nil when it is open; the reason why not.
    package func opened(within: Duration) async -> StoreError? {
        let core = core
        return await withCheckedContinuation { continuation in
            loop.spawn { continuation.resume(returning: await core.value.opened(within: within)) }
        }
    }

    /// Of its thread.
    package var activity: Activity { loop.activity }

    /// The facts as of the last beat, at once and from anywhere.
    package var standing: StoreFacts { view.facts }

    /// Why it is not open; nil once it is.
    package var refusal: StoreError? { view.refusal }

    package func maySend(_ token: ClaimToken) -> Bool { view.maySend(under: token.number, at: clock()) }

    /// The kinds of events that somebody reads at another daemon.
    package var wantedEvents: Set<EventKind> { view.wantedEvents }

    /// Tells the others of events, and takes theirs of the kinds that somebody reads here.
    package func exchange(
        _ events: [SharedEvent],
        reading kinds: Set<EventKind>
    ) async throws(StoreError) -> [SharedEvent] {
        let types = kinds.map(\.type).sorted().joined(separator: ",")
        return try await onLoop(isOpen: false) { core throws(StoreError) in
            try await core.exchange(events, reading: types)
        }
    }

    /// Runs a call on the thread of the store; one that `isOpen` is refused where the store is not.
    func onLoop<Value: Sendable>(
        isOpen: Bool = true,
        _ body: @escaping @Sendable (FleetCore) async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            let core = core
            loop.spawn {
                do throws(StoreError) {
                    if isOpen { try core.value.checkOpen() }
                    continuation.resume(returning: .success(try await body(core.value)))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        return try result.get()
    }

    /// Returns once all that was offered has been answered.
    package func drained() async {
        let core = core
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.spawn {
                while core.value.accepting.isWorked || core.value.settling.isWorked {
                    try? await core.value.loop.sleep(until: core.value.loop.currentTime() + 1_000_000)
                }
                continuation.resume()
            }
        }
    }

    /// Which routes this node serves: a job of another one is left to others.
    package func serve(_ routes: [String]) {
        let core = core
        loop.spawn { await core.value.serve(routes) }
    }

    package func close() async {
        let core = core
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.spawn {
                await core.value.close()
                continuation.resume()
            }
        }
    }

    /// Ends as a process does that is killed: what it has claimed stays so, and its lease runs out.
    package func breakOff() async {
        let core = core
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.spawn {
                core.value.breakOff()
                continuation.resume()
            }
        }
    }

    deinit { loop.stop() }
}

// MARK: Changing

extension PostgreSQLJobStore {
    package func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        var results: [EnqueueResult] = []
        for result in await enqueueEach(jobs, at: now) { results.append(try result.get()) }
        return results
    }

    package func enqueueEach(_ jobs: [NewJob], at now: JobMoment) async -> [Result<EnqueueResult, StoreError>]
    {
        await offered(jobs, offer)
    }

    package func enqueue(
        _ offered: OfferedJob,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void
    ) -> Bool {
        offer(offered.job, told)
        return true
    }

    private func offer(_ job: NewJob, _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void)
    {
        let core = core
        loop.execute { core.value.offer(PendingAcceptance(job: job, told: told)) }
    }

    /// Offers all of them at once, and waits for the last answer.
    private func offered<Item: Sendable, Value: Sendable>(
        _ items: [Item],
        _ offer: (Item, @escaping @Sendable (Result<Value, StoreError>) -> Void) -> Void
    ) async -> [Result<Value, StoreError>] {
        guard !items.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let gathered = Gathered(count: items.count, continuation)
            for (index, item) in items.enumerated() { offer(item) { gathered.take(index, $0) } }
        }
    }

    package func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        try await onLoop { core throws(StoreError) in
            try await core.claim(route, limit: limit, upstream: upstream)
        }
    }

    package func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        try await onLoop { core throws(StoreError) in try await core.begin(next) }
    }

    package func note(_ attempt: Attempt, of id: JobID, at now: JobMoment) async throws(StoreError) -> Bool {
        try await onLoop { core throws(StoreError) in try await core.note(attempt, of: id) }
    }

    package func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        var answers: [Settlement.Answer] = []
        for answer in await offered(settlements, offer) { answers.append(try answer.get()) }
        return answers
    }

    package func settle(
        _ settlement: Settlement,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) -> Bool {
        offer(settlement, told)
        return true
    }

    private func offer(
        _ settlement: Settlement,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) {
        let core = core
        loop.execute { core.value.offer(PendingSettlement(settlement: settlement, told: told)) }
    }

    package func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport {
        try await onLoop { core throws(StoreError) in try await core.apply(order) }
    }

    package func sweep(
        _ retention: Retention,
        limit: Int,
        at now: JobMoment
    ) async throws(StoreError) -> SweepReport {
        try await onLoop { core throws(StoreError) in try await core.sweep(retention, limit: limit) }
    }

    package func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try await onLoop { core throws(StoreError) in try await core.pause(route, pause) }
    }

    package func begin(_ run: ActionRun, at now: JobMoment) async throws(StoreError) -> ActionRun? {
        try await onLoop { core throws(StoreError) in try await core.begin(run) }
    }

    package func advance(
        _ run: Int64,
        by step: RunStep,
        at now: JobMoment
    ) async throws(StoreError) -> RunAdvance? {
        try await onLoop { core throws(StoreError) in try await core.advance(run, by: step) }
    }

    package func end(
        _ run: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at now: JobMoment
    ) async throws(StoreError) -> ActionRun? {
        try await onLoop { core throws(StoreError) in
            try await core.end(run, as: state, by: by, failure: failure)
        }
    }
}

// MARK: Reading

extension PostgreSQLJobStore {
    package func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        try await onLoop { core throws(StoreError) in try await core.job(id) }
    }

    package func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try await onLoop { core throws(StoreError) in try await core.whole(id, extent) }
    }

    package func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try await onLoop { core throws(StoreError) in
            let found = try await core.page(filter, order, limit, cursor)
            var page = JobPage()
            page.jobs = found.rows.map { $0.job() }
            page.next = found.next
            return page
        }
    }

    package func body(of id: JobID) async throws(StoreError) -> StoredBody? {
        try await onLoop { core throws(StoreError) in
            guard let row = try await core.row(id) else { return nil }
            return try await core.body(of: row)
        }
    }

    package func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? {
        try await onLoop { core throws(StoreError) in
            guard let row = try await core.row(id), row.standing.hasAnswer else { return nil }
            return try await core.history(of: row).answer
        }
    }

    package func attempts(
        of id: JobID,
        after number: Int,
        limit: Int
    ) async throws(StoreError) -> [Attempt] {
        try await onLoop { core throws(StoreError) in
            guard let row = try await core.row(id) else { return [] }
            let attempts = try await core.history(of: row).attempts
            return Array(attempts.filter { $0.number > number }.prefix(limit))
        }
    }

    package func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        try await onLoop { core throws(StoreError) in try await core.piece(index, of: file) }
    }

    package func spool() async throws(StoreError) -> any BodySpool { FleetSpool(self) }

    package func counters(at now: JobMoment, withDue: Bool) async throws(StoreError) -> JobCounters {
        try await onLoop { core throws(StoreError) in try await core.counters(withDue: withDue) }
    }

    package func failures(
        of route: String?,
        at now: JobMoment
    ) async throws(StoreError) -> [FailureKind: [Int]] {
        try await onLoop { core throws(StoreError) in try await core.failures(of: route) }
    }

    package func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] {
        try await onLoop { core throws(StoreError) in try await core.unfinishedByUser() }
    }

    package func ending(
        by end: Int64,
        of routes: [String]
    ) async throws(StoreError) -> [String: EndingJobs] {
        try await onLoop { core throws(StoreError) in try await core.ending(by: end, of: routes) }
    }

    package func facts() async throws(StoreError) -> StoreFacts {
        let core = core
        return await withCheckedContinuation { continuation in
            loop.spawn { continuation.resume(returning: core.value.standing) }
        }
    }

    package func pauses() async throws(StoreError) -> [String: RoutePause] {
        try await onLoop { core throws(StoreError) in try await core.readPauses() }
    }

    package func runs() async throws(StoreError) -> [ActionRun] {
        try await onLoop { core throws(StoreError) in try await core.runs() }
    }
}
