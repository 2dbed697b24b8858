import RelayCore
import RelayEngine
import RelayServer
import RelayTestSupport
import Synchronization
import Testing

/// A daemon's durable side with one route, and everything behind it under the test's control.
final class DurableBench: Sendable {
    /// Where the store finds the jobs that are made from it.
    private final class Shared: Sendable {
        let jobs = Mutex<DurableJobs?>(nil)
        let announcer = Mutex<Announcer?>(nil)
    }

    /// Counts the tasks of the loops.
    private final class Tasks: Sendable {
        let count = Atomic<Int>(0)
    }

    let time: VirtualTime
    let transport: ScriptedTransport
    let sink = RecordingSink()
    let store: MemoryJobStore
    let faults: FaultyJobStore
    let engine: Engine
    let jobs: DurableJobs
    let room: QueueRoom
    private let relays: [Relay]
    private let shared: Shared
    private let tasks = Tasks()

    /// With `earlier` the next process after that one's crash.
    init(
        after earlier: DurableBench? = nil,
        maxQueued: Int = 100,
        vault: CredentialVault = CredentialVault([], secrets: [:]),
        listeners: [any JobListener] = [],
        _ change: (inout RoutePolicy) -> Void = { _ in },
        answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step
    ) {
        let time = earlier?.time ?? VirtualTime(.manual)
        self.time = time
        let shared = earlier?.shared ?? Shared()
        self.shared = shared
        // Nobody of the process that crashed hears of anything.
        shared.jobs.withLock { $0 = nil }
        engine = Engine(
            snapshot: DurableBench.snapshot(vault: vault, change),
            time: time,
            entropy: SeededEntropy()
        )
        let audience = Audience(engine, feed: EventFeed())
        room = audience.room
        let announcer = audience.announcer(and: [sink] + listeners)
        shared.announcer.withLock { $0 = announcer }
        var events = JobStoreEvents()
        events.ready = { routes in shared.jobs.withLock { $0 }?.ready(routes) }
        events.ended = { jobs in
            for job in jobs { shared.announcer.withLock { $0 }?.record(.ended(job)) }
        }
        store =
            earlier.map { MemoryJobStore(afterCrashOf: $0.store, at: JobMoment(time)) }
            ?? MemoryJobStore(at: JobMoment(time), events: events)
        faults = FaultyJobStore(store)
        transport = ScriptedTransport(time: time, answer: answer)
        let settings = DurableBench.settings(maxQueued: maxQueued)
        jobs = DurableJobs(store: faults, audience, announcer, settings: settings, digest: { $0 })
        let (transport, tasks) = (transport, tasks)
        relays = (1...2).map { seed in
            Relay(
                ports: RelayPorts(
                    transport: transport,
                    time: time,
                    entropy: SeededEntropy(seed: UInt64(seed)),
                    sink: announcer,
                    start: { work in
                        tasks.count.add(1, ordering: .relaxed)
                        return Task {
                            await work()
                            tasks.count.subtract(1, ordering: .relaxed)
                        }
                    }
                )
            )
        }
        let jobs = jobs
        shared.jobs.withLock { $0 = jobs }
    }

    static func settings(maxQueued: Int) -> DurableJobs.Settings {
        var settings = DurableJobs.Settings()
        settings.maxQueued = maxQueued
        return settings
    }

    static func snapshot(
        previous: Snapshot? = nil,
        vault: CredentialVault = CredentialVault([], secrets: [:]),
        names: [String] = ["hooks", "other"],
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) -> Snapshot {
        var policy = RoutePolicy(upstreams: [Upstream(name: "one", origin: .unix(path: "/one"))])
        policy.delivery.mode = .durable
        var retry = RetryPolicy()
        retry.maxAttempts = 4
        retry.backoff = Backoff(schedule: .list([.seconds(5), .seconds(60), .seconds(3600)]), jitter: .none)
        policy.recovery = [RecoveryRule(name: "later", on: FailureMatcher([.any]), action: .retry(retry))]
        change(&policy)
        return Snapshot(
            routes: names.map { Route(name: $0, policy: policy) },
            vault: vault,
            settings: Snapshot.Settings(),
            previous: previous
        )
    }

    func start() async throws { try await jobs.start(on: relays) }

    /// Ends everything.
    ///
    /// - Returns: whether nothing was left behind: no task, no waiter, no place.
    func stop() async -> Bool {
        shared.jobs.withLock { $0 = nil }
        jobs.abort()
        await untilIdle()
        return tasks.count.load(ordering: .relaxed) == 0 && time.sleeperCount == 0 && transport.heldCount == 0
            && jobs.inFlight == 0
            && engine.snapshot.routes.values.allSatisfy { $0.state.load == (0, 0) }
    }

    func admit(
        _ fields: [(String, String)] = [],
        route: String = "hooks",
        method: Method = .put,
        target: String = "x",
        user: UInt32 = 1000
    ) throws(Problem) -> Admission {
        var all = HeaderFields()
        for (name, value) in fields { all.append(name, value) }
        return try engine.admit(
            route: route,
            target: target,
            method: method,
            terms: RequestTerms(all),
            length: 0,
            client: ClientIdentity(user: user, group: 1, process: 7, groups: [], unit: "shop.service")
        )
    }

    @discardableResult
    func submit(
        _ fields: [(String, String)] = [],
        route: String = "hooks",
        method: Method = .put,
        target: String = "x",
        body: String = "hello"
    ) async throws(Problem) -> JobID {
        let admission = try admit(fields, route: route, method: method, target: target)
        return try await jobs.acceptance.accept(admission, body: .bytes(Array(body.utf8))).id
    }

    /// Lets everybody go on who can, and expects it to be so then.
    func until(
        _ isSo: () async throws -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async rethrows {
        await untilIdle()
        #expect(try await isSo(), sourceLocation: sourceLocation)
    }

    /// Lets time pass in tenths of a second, and expects it to be so within a minute.
    func eventually(_ isSo: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
        for _ in 0..<600 {
            await untilIdle()
            if isSo() { return }
            time.advance(by: .milliseconds(100))
        }
        Issue.record("it is not so after a minute", sourceLocation: sourceLocation)
    }

    /// Lets everybody go on who can, and expects the job to be in that state then.
    ///
    /// - Returns: the job then.
    @discardableResult
    func job(
        _ id: JobID,
        is state: JobState,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> StoredJob {
        await untilIdle()
        let job = try #require(try await store.job(id), sourceLocation: sourceLocation)
        #expect(job.state == state, sourceLocation: sourceLocation)
        return job
    }

    /// The targets of what was sent, in order.
    var sent: [String] { transport.sent.map(\.target) }

    /// What was told of jobs that are over.
    var ends: [JobReport] {
        sink.events.compactMap { if case .ended(let report) = $0 { report } else { nil } }
    }

    func feed(_ kind: JobEvent.Kind) -> [JobEvent] {
        jobs.feed.events(after: 0, limit: 10_000).events.map(\.event).filter { $0.kind == kind }
    }
}

/// A store that fails when a test says so.
final class FaultyJobStore: JobStore {
    let inner: MemoryJobStore
    private let settleFaults = Mutex<[StoreError]>([])
    private let enqueueFault = Mutex<StoreError?>(nil)
    private let beginFault = Mutex<StoreError?>(nil)
    private let settled = Mutex<Settlement?>(nil)
    /// How often somebody looked at a job.
    let looks = Atomic<Int>(0)
    private let interludes = Mutex<[Call: @Sendable () async -> Void]>([:])

    /// What can be held back after it was done.
    enum Call: Hashable {
        case enqueue
        case claim
        case begin
        case settle
        case apply(JobAction)
    }

    init(_ inner: MemoryJobStore) { self.inner = inner }

    /// The next settlements fail like that, one after the other.
    func failSettlements(_ errors: [StoreError]) { settleFaults.withLock { $0 = errors } }
    func failBegin(_ error: StoreError) { beginFault.withLock { $0 = error } }
    func failAcceptance(_ error: StoreError?) { enqueueFault.withLock { $0 = error } }
    /// Does that after the next such call, before its caller learns of it.
    func after(_ call: Call, _ body: @escaping @Sendable () async -> Void) {
        interludes.withLock { $0[call] = body }
    }

    private func interlude(_ call: Call) async {
        await interludes.withLock { $0.removeValue(forKey: call) }?()
    }

    /// What the store was told last.
    var lastSettlement: Settlement? { settled.withLock { $0 } }
    var settlementsToFail: Int { settleFaults.withLock { $0.count } }

    func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        if let fault = enqueueFault.withLock({ $0 }), !jobs.allSatisfy(\.hasNoRoom) { throw fault }
        let acceptances = try await inner.enqueue(jobs, at: now)
        await interlude(.enqueue)
        return acceptances
    }

    func claim(
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

    func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        if let fault = beginFault.withLock({ $0.take() }) { throw fault }
        let isBegun = try await inner.begin(next, at: now)
        await interlude(.begin)
        return isBegun
    }

    func extend(_ tokens: [ClaimToken], lease: Duration, at now: JobMoment) async throws(StoreError) -> [Bool]
    { try await inner.extend(tokens, lease: lease, at: now) }

    func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        if let fault = settleFaults.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw fault }
        settled.withLock { $0 = settlements.last }
        let answers = try await inner.settle(settlements, at: now)
        await interlude(.settle)
        return answers
    }

    func apply(
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

    func sweep(_ retention: Retention, limit: Int, at now: JobMoment) async throws(StoreError) -> SweepReport
    {
        try await inner.sweep(retention, limit: limit, at: now)
    }

    func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        looks.add(1, ordering: .relaxed)
        return try await inner.job(id)
    }

    func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try await inner.jobs(filter, order: order, limit: limit, after: cursor)
    }

    func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try await inner.whole(id, extent)
    }

    func body(of id: JobID) async throws(StoreError) -> StoredBody? { try await inner.body(of: id) }
    func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? { try await inner.answer(of: id) }

    func attempts(
        of id: JobID,
        after number: Int,
        limit: Int
    ) async throws(StoreError) -> [Attempt] {
        try await inner.attempts(of: id, after: number, limit: limit)
    }

    func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        try await inner.piece(index, of: file)
    }

    func spool() async throws(StoreError) -> any BodySpool { try await inner.spool() }
    func counters(at now: JobMoment) async throws(StoreError) -> JobCounters {
        try await inner.counters(at: now)
    }
    func failures(of route: String?, at now: JobMoment) async throws(StoreError) -> [FailureKind: [Int]] {
        try await inner.failures(of: route, at: now)
    }

    func nextDue(_ route: String) async throws(StoreError) -> Int64? { try await inner.nextDue(route) }
    func facts() async throws(StoreError) -> StoreFacts { try await inner.facts() }
    func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try await inner.pause(route, pause, at: now)
    }
    func pauses() async throws(StoreError) -> [String: RoutePause] { try await inner.pauses() }
    func close() async { await inner.close() }
}
