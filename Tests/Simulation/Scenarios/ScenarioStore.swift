import RelayBase
import RelayJobs
import Synchronization

/// Keeps the jobs of a scenario in memory, in the time that a disk takes.
///
/// Unlike `MemoryJobStore` it finds the jobs that are due without looking at all: a scenario has tens of thousands. It
/// refuses the calls that no scenario makes.
final class ScenarioStore: JobStore {
    fileprivate struct Entry {
        var record: RelayJobs.JobRecord
        var body: StoredBody
        var machine: JobStateMachine
        let created: Int64
        var attempts: [Attempt] = []
    }

    /// A job that may be claimed, now or later; of no account once the job has changed.
    fileprivate struct Due: Comparable {
        /// Its priority, where it may be claimed now.
        var priority: UInt8
        let runAt: Int64
        let position: Int64
        let version: UInt64

        static func < (left: Due, right: Due) -> Bool {
            (left.priority, left.runAt, left.position) < (right.priority, right.runAt, right.position)
        }
    }

    fileprivate struct Line {
        var due = Heap<Due>()
        var later = Heap<Due>()
    }

    fileprivate struct State {
        var entries: [Int64: Entry] = [:]
        var positions: [JobID: Int64] = [:]
        var lines: [String: Line] = [:]
        var ready: [String: FreshWork] = [:]
        var accepted: Int64 = 0
        var claimed: UInt64 = 0
        var ended: [JobState: Int] = [:]
        /// Jobs that are not over, by the minute of their acceptance.
        var counts: [JobCounters.Group: [Int64: Int]] = [:]
    }

    private static let write: Int64 = 1_000_000

    private let world: Confined<ScenarioWorld>
    private let events: JobStoreEvents
    private let state = Mutex(State())

    init(_ world: Confined<ScenarioWorld>, events: JobStoreEvents) {
        (self.world, self.events) = (world, events)
    }

    var unfinished: Int { state.withLock { $0.entries.count } }

    func ended(_ end: JobState) -> Int { state.withLock { $0.ended[end] ?? 0 } }

    /// The oldest half of those that are not with an upstream, from its end: a job from the middle.
    func middle() -> StoredJob? {
        state.withLock { state in
            let waiting = state.entries.filter { $0.value.machine.state != .running }.keys.sorted()
            return waiting.isEmpty ? nil : state.job(waiting[waiting.count / 2])
        }
    }

    private func write<Value: Sendable>(_ body: (inout State, Int64) -> Value) async -> Value {
        await world.outwait(until: world.value.timeline.now + ScenarioStore.write)
        let now = world.value.wall
        let (value, ready) = state.withLock { state in
            let value = body(&state, now)
            defer { state.ready = [:] }
            return (value, state.ready)
        }
        if !ready.isEmpty { events.ready(ready) }
        return value
    }

    private static let unasked = StoreError(.failed, "a scenario does not ask that of its store")

    func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        await write { state, now in jobs.map { state.enqueue($0, now) } }
    }

    func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        await write { state, now in
            state.claim(route, limit, BegunAttempt(upstream: upstream, beganAt: now), now)
        }
    }

    func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        await write { state, now in state.begin(next, now) }
    }

    func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        await write { state, now in settlements.map { state.settle($0, now) } }
    }

    func attempts(of id: JobID, after number: Int, limit: Int) async throws(StoreError) -> [Attempt] {
        state.withLock { state in
            let all = state.positions[id].flatMap { state.entries[$0] }?.attempts ?? []
            return Array(all.lazy.filter { $0.number > number }.prefix(limit))
        }
    }

    func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        state.withLock { state in state.positions[id].flatMap { state.job($0) } }
    }

    func counters(at now: JobMoment) async throws(StoreError) -> JobCounters {
        state.withLock { state in
            var counters = JobCounters()
            for (group, minutes) in state.counts {
                for (minute, count) in minutes where count > 0 {
                    counters.add(group, count: count, minute: minute, nowMinute: now.wall / 60_000)
                }
            }
            return counters
        }
    }

    func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] {
        state.withLock { state in
            state.entries.values.reduce(into: [:]) { $0[$1.record.submitter?.user, default: 0] += 1 }
        }
    }

    func facts() async throws(StoreError) -> StoreFacts { StoreFacts() }

    /// No job of a scenario gets old enough.
    func sweep(_ retention: Retention, limit: Int, at now: JobMoment) async throws(StoreError) -> SweepReport
    {
        SweepReport()
    }

    func pauses() async throws(StoreError) -> [String: RoutePause] { [:] }

    func close() async {}

    // Calls that no scenario makes.

    func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport {
        throw ScenarioStore.unasked
    }

    func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        throw ScenarioStore.unasked
    }

    func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        throw ScenarioStore.unasked
    }

    func body(of id: JobID) async throws(StoreError) -> StoredBody? { throw ScenarioStore.unasked }

    func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? { throw ScenarioStore.unasked }

    func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        throw ScenarioStore.unasked
    }

    func spool() async throws(StoreError) -> any BodySpool { throw ScenarioStore.unasked }

    func failures(of route: String?, at now: JobMoment) async throws(StoreError) -> [FailureKind: [Int]] {
        throw ScenarioStore.unasked
    }

    func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        throw ScenarioStore.unasked
    }
}

extension ScenarioStore.State {
    func job(_ position: Int64) -> StoredJob? {
        guard let entry = entries[position] else { return nil }
        return StoredJob(
            entry.record,
            position: position,
            machine: entry.machine,
            createdAt: entry.created,
            // Nobody sets the wall clock, so that the store's line is that clock.
            timeline: StoreClock(at: JobMoment(wall: entry.created, steady: 0)),
            bodyLength: entry.body.length,
            hasBody: true
        )
    }

    /// Changes a job that is not over, and tells who waits for work.
    @discardableResult
    private mutating func change(
        _ position: Int64,
        _ now: Int64,
        _ step: (inout JobStateMachine) -> Bool
    ) -> Bool {
        guard var entry = entries[position] else { return false }
        count(entry, -1)
        defer { if let entry = entries[position] { count(entry, 1) } }
        guard step(&entry.machine) else { return false }
        if entry.machine.state.isTerminal {
            ended[entry.machine.state, default: 0] += 1
            entries[position] = nil
            positions[entry.record.id] = nil
        } else {
            entries[position] = entry
            if entry.machine.isAwaited { wait(position, entry, now) }
        }
        return true
    }

    private mutating func count(_ entry: ScenarioStore.Entry, _ more: Int) {
        let group = JobCounters.Group(route: entry.record.route, state: entry.machine.state)
        counts[group, default: [:]][entry.created / 60_000, default: 0] += more
    }

    private mutating func wait(_ position: Int64, _ entry: ScenarioStore.Entry, _ now: Int64) {
        let (machine, route) = (entry.machine, entry.record.route)
        let isDue = machine.runAt <= now
        let due = ScenarioStore.Due(
            priority: isDue ? entry.record.priority : 0,
            runAt: machine.runAt,
            position: position,
            version: machine.version
        )
        if isDue {
            lines[route, default: ScenarioStore.Line()].due.add(due)
        } else {
            lines[route, default: ScenarioStore.Line()].later.add(due)
        }
        ready[route, default: FreshWork()].add(dueAt: machine.isReady ? machine.runAt : .max, now: now)
    }

    private mutating func nextDue(_ route: String, _ now: Int64) -> ScenarioStore.Due? {
        while let later = lines[route]?.later.first, later.runAt <= now {
            lines[route]?.later.popFirst()
            guard let entry = entries[later.position], entry.machine.version == later.version else {
                continue
            }
            // A job that this wakes is due in its new state.
            if change(later.position, now, { $0.wake(now: now) }) { continue }
            var due = later
            due.priority = entry.record.priority
            lines[route]?.due.add(due)
        }
        while let due = lines[route]?.due.first {
            if entries[due.position]?.machine.version == due.version { return due }
            lines[route]?.due.popFirst()
        }
        return nil
    }

    mutating func enqueue(_ job: NewJob, _ now: Int64) -> EnqueueResult {
        accepted += 1
        let position = accepted
        let machine = JobStateMachine(
            runAt: now,
            expiresAt: job.expiresAfter.map { StoreClock.advance(now, by: $0) },
            mayRepeat: job.record.mayRepeat,
            isDated: false,
            isBlocked: false,
            now: now
        )
        positions[job.record.id] = position
        var entry = ScenarioStore.Entry(record: job.record, body: job.body, machine: machine, created: now)
        guard let upstream = job.upstream, nextDue(job.record.route, now) == nil else {
            entries[position] = entry
            count(entry, 1)
            wait(position, entry, now)
            return .accepted
        }
        claimed += 1
        let begun = BegunAttempt(upstream: upstream, beganAt: now)
        _ = entry.machine.claim(token: claimed, begun, now: now)
        entries[position] = entry
        count(entry, 1)
        return .running(ClaimToken(id: job.record.id, position: position, number: claimed))
    }

    mutating func claim(_ route: String, _ limit: Int, _ begun: BegunAttempt, _ now: Int64) -> ClaimBatch {
        var batch = ClaimBatch()
        while batch.claims.count < limit, let due = nextDue(route, now) {
            lines[route]?.due.popFirst()
            claimed += 1
            let number = claimed
            guard change(due.position, now, { $0.claim(token: number, begun, now: now) }),
                let job = job(due.position), let body = entries[due.position]?.body
            else { continue }
            let token = ClaimToken(id: job.record.id, position: due.position, number: number)
            batch.claims.append(Claim(token: token, job: job, body: body))
        }
        if batch.claims.count < limit { batch.nextDue = lines[route]?.later.first?.runAt }
        return batch
    }

    mutating func begin(_ next: NextAttempt, _ now: Int64) -> Bool {
        let position = next.token.position
        guard let before = entries[position]?.machine.attempts else { return false }
        if next.isResend { return change(position, now) { $0.resend(token: next.token.number) } }
        let isBegun = change(position, now) {
            $0.begin(
                token: next.token.number,
                BegunAttempt(upstream: next.upstream, beganAt: now),
                attempts: UInt32(next.earlier.count),
                spent: UInt32(next.earlier.count { $0.isSpent }),
                kind: next.earlier.last?.failure?.kind
            )
        }
        if isBegun { add(next.earlier, after: before, of: position) }
        return isBegun
    }

    private mutating func add(_ attempts: [Attempt], after count: UInt32, of position: Int64) {
        for (index, attempt) in attempts.enumerated() {
            var numbered = attempt
            numbered.number = Int(count) + index + 1
            entries[position]?.attempts.append(numbered)
        }
    }

    mutating func settle(_ settlement: Settlement, _ now: Int64) -> Settlement.Answer {
        let position = settlement.token.position
        guard let before = entries[position]?.machine else { return .stale }
        var after = before
        let isSettled = change(position, now) { machine in
            let isSettled = machine.settle(
                token: settlement.token.number,
                settlement.ending,
                attempts: UInt32(settlement.attempts.count),
                spent: UInt32(settlement.attempts.count { $0.isSpent }),
                kind: settlement.failureKind,
                isUncertain: settlement.isUncertain,
                now: now
            )
            after = machine
            return isSettled
        }
        guard isSettled else { return .stale }
        add(settlement.attempts, after: before.attempts, of: position)
        return .applied(after.state, after.end)
    }
}
