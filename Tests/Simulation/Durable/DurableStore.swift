import RelayBase
import RelayCore
import RelayJobs
import RelayTestSupport

/// The store as one process sees it: slow, full for a while, and gone with the process.
///
/// Here the checker sees what becomes durable, and here most bugs are planted.
final class DurableStore: JobStore {
    let inner: MemoryJobStore
    let world: Confined<DurableWorld>
    private let life: Confined<DurableLife>

    init(_ inner: MemoryJobStore, _ world: Confined<DurableWorld>, _ life: Confined<DurableLife>) {
        (self.inner, self.world, self.life) = (inner, world, life)
    }

    var plant: DurablePlant? { world.value.plant }
    private var checker: DurableChecker { world.value.checker }

    /// Waits as for a disk, before or after the call.
    func reach() async throws(StoreError) {
        let delay = world.value.storeDelay()
        if delay > 0 { await world.outwait(until: world.value.timeline.now + delay) }
        guard !life.value.isDead else { throw .closed }
    }

    private func write<V>(_ body: () async throws(StoreError) -> V) async throws(StoreError) -> V {
        let asked = world.value.timeline.now
        world.value.writes += 1
        defer { world.value.writes -= 1 }
        try await reach()
        // A call that a crash cuts off tells the store no time.
        checker.lastContact = max(checker.lastContact, asked)
        let value = try await body()
        try await reach()
        return value
    }

    private func checkRoom() throws(StoreError) {
        if world.value.isFull { throw StoreError(.full, "cannot write: there is no room") }
    }

    func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        try await write { () async throws(StoreError) in
            if !jobs.allSatisfy(\.lacksCapacity) { try checkRoom() }
            var answers: [EnqueueResult] = []
            for job in jobs {
                var given = job
                if plant == .losesKey { given.idempotency = nil }
                if plant == .losesOrder { given.record.orderingKey = nil }
                if plant == .repeatsAfterCrash { given.record.mayRepeat = true }
                if plant == .comesEarly, case .after(let delay) = job.due { given.due = .after(delay * 0.8) }
                let isLost = plant == .losesAccepted && world.value.draw.below(50) == 0
                if plant == .losesBirth { given.upstream = nil }
                var answer =
                    isLost ? .accepted : try await inner.enqueue([given], at: now).first ?? .accepted
                if plant == .losesBirth, job.upstream != nil, answer == .accepted {
                    let position = try await inner.job(job.record.id)?.position ?? 0
                    answer = .running(ClaimToken(id: job.record.id, position: position, number: .max))
                }
                checker.enqueued(job, answer, at: now)
                answers.append(answer)
            }
            return answers
        }
    }

    typealias Told<Value> = @Sendable (Result<Value, StoreError>) -> Void

    func enqueue(_ job: OfferedJob, at now: JobMoment, _ told: @escaping Told<EnqueueResult>) -> Bool {
        tell(told) { [self] () async throws(StoreError) in try await enqueueOne(job.job, at: now) }
    }

    func settle(_ one: Settlement, at now: JobMoment, _ told: @escaping Told<Settlement.Answer>) -> Bool {
        tell(told) { [self] () async throws(StoreError) in try await settle([one], at: now).first ?? .stale }
    }

    /// Now and then a call needs a task.
    private func tell<Value: Sendable>(
        _ told: @escaping Told<Value>,
        _ call: @escaping @Sendable () async throws(StoreError) -> Value
    ) -> Bool {
        guard world.value.isPrompt(85) else { return false }
        world.value.spawn { _ in told(await Result { () async throws(StoreError) in try await call() }) }
        return true
    }

    func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        try await write { () async throws(StoreError) in
            if plant == .shutsGate, checker.isGateShut(route) { return ClaimBatch() }
            let batch = try await inner.claim(route, limit: limit, upstream: upstream, at: now)
            for claim in batch.claims { checker.claimed(claim.job) }
            return batch
        }
    }

    func note(_ attempt: Attempt, of id: JobID, at now: JobMoment) async throws(StoreError) -> Bool {
        try await write { () async throws(StoreError) in try await inner.note(attempt, of: id, at: now) }
    }

    func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        try await write { () async throws(StoreError) in
            try checkRoom()
            if plant == .losesAttempt { return true }
            guard try await inner.begin(next, at: now) else { return false }
            checker.recorded(next)
            return true
        }
    }

    func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        try await write { () async throws(StoreError) in
            if !world.value.hasReserve { try checkRoom() }
            var answers: [Settlement.Answer] = []
            for settlement in settlements {
                var given = settlement
                if plant == .burnsWait, case .requeued(_, .credentials) = settlement.ending {
                    given.attempts.append(Attempt(number: 1, upstream: "one", beganAt: now.wall))
                }
                if plant == .losesSuccess, settlement.ending == .succeeded, world.value.draw.below(30) == 0 {
                    given.ending = .retry(after: .seconds(1), .backoff)
                }
                if plant == .swallowsSettlement, world.value.draw.below(40) == 0 {
                    answers.append(.applied(.succeeded))
                    continue
                }
                try await tellEarly(settlement, at: now)
                if plant == .losesNextInOrder { world.value.isDeafToReady = true }
                defer { world.value.isDeafToReady = false }
                let answer = try await inner.settle([given], at: now).first ?? .stale
                checker.settled(settlement, given, answer, try await inner.job(settlement.token.id), at: now)
                if world.value.isFull { checker.note("settled on a full disk") }
                try await tellTwice(settlement, at: now)
                answers.append(answer)
            }
            return answers
        }
    }

    func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport {
        let (action, filter, spacing) = (order.action, order.filter, order.spacing)
        var order = order
        if plant == .ignoresSpacing { order.spacing = nil }
        let asked = order
        return try await write { () async throws(StoreError) in
            if plant == .resumesNothing, action == .release, filter.reason == .routePaused {
                return ActionReport()
            }
            let before = try await inner.all()
            if plant == .losesHold, action == .hold, let id = filter.ids.first,
                let job = before.first(where: { $0.record.id == id }), !job.state.isTerminal,
                job.state != .running
            {
                checker.held(id)
                var report = ActionReport()
                report.matched = 1
                report.changes = [
                    JobChange(id: id, route: job.record.route, user: nil, state: .held, reason: .operatorHold)
                ]
                return report
            }
            var report = try await inner.apply(asked, at: now)
            checker.applied(action, before, try await inner.all(), spacing, at: now)
            if plant == .marksCancelled { report.changes.removeAll { $0.state == .running } }
            return report
        }
    }

    func sweep(_ retention: Retention, limit: Int, at now: JobMoment) async throws(StoreError) -> SweepReport
    {
        try await write { () async throws(StoreError) in
            if plant == .expiresNothingPaused {
                let pauses = try await inner.pauses()
                if !pauses.isEmpty { return SweepReport() }
            }
            let report = try await inner.sweep(retention, limit: limit, at: now)
            for job in report.ended { checker.expired(job.id) }
            return report
        }
    }

    func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try await write { () async throws(StoreError) in try await inner.pause(route, pause, at: now) }
    }

    func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        try await reach()
        return try await inner.job(id)
    }

    func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try await reach()
        return try await inner.jobs(filter, order: order, limit: limit, after: cursor)
    }

    func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try await reach()
        return try await inner.whole(id, extent)
    }

    func body(of id: JobID) async throws(StoreError) -> StoredBody? { try await inner.body(of: id) }
    func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? { try await inner.answer(of: id) }

    func attempts(of id: JobID, after number: Int, limit: Int) async throws(StoreError) -> [Attempt] {
        try await reach()
        var found = try await inner.attempts(of: id, after: number, limit: limit)
        // The rules in force are asked as well, of whoever was interrupted.
        if plant == .repeatsAfterCrash {
            for index in found.indices where found[index].failure?.kind == .interrupted {
                found[index].failure?.kind = .connectionTerminated
            }
        }
        return found
    }

    func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        try await inner.piece(index, of: file)
    }

    func spool() async throws(StoreError) -> any BodySpool { try await inner.spool() }

    func counters(at now: JobMoment, withDue: Bool) async throws(StoreError) -> JobCounters {
        guard !life.value.isDead else { throw .closed }
        return try await inner.counters(at: now, withDue: withDue)
    }

    func failures(of route: String?, at now: JobMoment) async throws(StoreError) -> [FailureKind: [Int]] {
        try await inner.failures(of: route, at: now)
    }

    func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] { try await inner.unfinishedByUser() }

    func ending(
        by end: Int64,
        of routes: [String]
    ) async throws(StoreError) -> [String: EndingJobs] {
        try await inner.ending(by: end, of: routes)
    }

    func facts() async throws(StoreError) -> StoreFacts { try await inner.facts() }

    func pauses() async throws(StoreError) -> [String: RoutePause] {
        try await reach()
        if plant == .forgetsPause, life.value.number > 0 { return [:] }
        return try await inner.pauses()
    }

    // Nobody begins a run here.
    func begin(_ run: ActionRun, at now: JobMoment) async throws(StoreError) -> ActionRun? {
        try await write { () async throws(StoreError) in try await inner.begin(run, at: now) }
    }

    func advance(_ run: Int64, by step: RunStep, at now: JobMoment) async throws(StoreError) -> RunAdvance? {
        try await write { () async throws(StoreError) in try await inner.advance(run, by: step, at: now) }
    }

    func end(
        _ run: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at now: JobMoment
    ) async throws(StoreError) -> ActionRun? {
        try await write { () async throws(StoreError) in
            try await inner.end(run, as: state, by: by, failure: failure, at: now)
        }
    }

    func runs() async throws(StoreError) -> [ActionRun] {
        try await reach()
        return try await inner.runs()
    }

    func close() async { await inner.close() }
}
