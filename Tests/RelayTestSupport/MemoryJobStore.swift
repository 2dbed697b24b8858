package import RelayBase
package import RelayJobs
import Synchronization

/// A job store in memory, written to be plainly right: what other stores are compared with, and what tests of an
/// engine use.
package final class MemoryJobStore: JobStore {
    struct Entry: Sendable {
        var record: JobRecord
        var body: StoredBody
        var bodyLength: UInt64
        var machine: JobStateMachine
        var date: Int64?
        var created: Int64
        var answer: StoredAnswer?
        var attempts: [Attempt] = []
        var actions: [ActionRecord] = []
        /// The order within its ordering key; a replay goes to the end.
        var turn: Int64
        var dropsContent: Bool

        mutating func dropContent() {
            body = .expunged
            record = record.expunged
        }
    }

    struct KnownKey: Sendable {
        var id: JobID
        var fingerprint: [UInt8]
        var until: Int64
    }

    struct KeyName: Hashable, Sendable {
        var user: UInt32
        var route: String
        var key: String
    }

    struct State: Sendable {
        var timeline: StoreClock
        var entries: [Int64: Entry] = [:]
        var positions: [JobID: Int64] = [:]
        var keys: [KeyName: KnownKey] = [:]
        var nextPosition: Int64 = 1
        var nextTurn: Int64 = 1
        var nextToken: UInt64 = 1
        var facts = StoreFacts()
        var ready: [String: FreshWork] = [:]
        /// Jobs that this call has ended without anybody's asking for it.
        var ended: [JobChange] = []
        /// Jobs that owe their notice.
        var owing: Set<Int64> = []
        /// The notices that this call has made.
        var noticed: [MadeNotice] = []
        var pauses: [String: RoutePause] = [:]
        var runs: [Int64: ActionRun] = [:]
        /// By route, the jobs that a claim may take.
        var lines: [String: WaitingLine] = [:]
        var counts: [JobState: Int] = [:]
        /// The least that any job has had.
        var firstExpiry = Int64.max
        var firstAccepted = Int64.max
        /// By route, whose turn it is.
        var turns: [String: ClaimTurns] = [:]
        var isClosed = false
    }

    private let state: Mutex<State>
    private let events: JobStoreEvents
    package let faults = StoreFaults()
    package func maySend(_ token: ClaimToken) -> Bool { faults.maySend(token) }

    package init(at now: JobMoment, events: JobStoreEvents = JobStoreEvents()) {
        state = Mutex(State(timeline: StoreClock(at: now)))
        self.events = events
    }

    /// The store as the next process finds it: jobs in flight have been through a crash.
    package init(afterCrashOf other: MemoryJobStore, at now: JobMoment) {
        var copy = other.state.withLock { $0 }
        let skew = copy.timeline.skew
        let timeline = copy.timeline
        copy.timeline = StoreClock(line: timeline.now, skew: timeline.skew, owed: timeline.owed, at: now)
        copy.isClosed = false
        copy.turns = [:]
        let line = copy.timeline.now
        for position in copy.entries.keys.sorted() {
            guard let before = copy.entries[position]?.machine,
                copy.change(position, { $0.recover(now: line) })
            else { continue }
            if let begun = before.begun {
                copy.add([Attempt(interrupted: begun, number: 0)], after: before.attempts, of: position)
            }
            copy.wakeSuccessors(of: position)
            if copy.job(position)?.state.isTerminal == true { copy.tell(position) }
        }
        let ended = copy.ended
        copy.ended = []
        if abs(copy.timeline.skew - skew) >= StoreClock.stepMilliseconds { copy.redate() }
        state = Mutex(copy)
        events = other.events
        if !ended.isEmpty { events.ended(ended) }
    }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// Tells of a change where there is one that is no sweep's doing: by default where the call has a time.
    private func access<Value>(
        _ now: JobMoment? = nil,
        changes: Bool? = nil,
        _ body: (inout State) -> Value
    ) throws(StoreError) -> Value {
        let (value, ready, ended, noticed) = try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw StoreError.closed }
            if let now { state.advance(to: now) }
            let value = body(&state)
            if now != nil, !state.owing.isEmpty { state.makeNotices(events.notices) }
            state.facts.owedNotices = state.owing.count
            defer {
                state.ready = [:]
                state.ended = []
                state.noticed = []
            }
            return (value, state.ready, state.ended, state.noticed)
        }
        if !noticed.isEmpty { events.noticed(noticed) }
        if !ready.isEmpty { events.ready(ready) }
        if !ended.isEmpty { events.ended(ended) }
        if changes ?? (now != nil) { events.changed() }
        return value
    }
}

extension MemoryJobStore {
    package func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        try faults.enqueue(jobs)
        await faults.write()
        let results = try access(now) { state in
            state.facts.commits += 1
            return jobs.map { state.enqueue($0, at: now) }
        }
        await faults.interlude(.enqueue)
        for (job, result) in zip(jobs, results) { try land(job, result, now) }
        return results
    }

    private func land(_ job: NewJob, _ result: EnqueueResult, _ now: JobMoment) throws(StoreError) {
        if job.wait?.land() == false { try access(now) { $0.giveUp(job, result) } }
    }

    package func enqueue(
        _ offered: OfferedJob,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void
    ) -> Bool {
        let job = offered.job
        guard let teller = faults.teller(of: .enqueue) else { return false }
        let answer = Result { () throws(StoreError) in
            try faults.enqueue([job])
            return try access(now) { state in
                state.facts.commits += 1
                return state.enqueue(job, at: now)
            }
        }
        teller { [self] in
            told(
                Result { () throws(StoreError) in
                    let result = try answer.get()
                    try land(job, result, now)
                    return result
                }
            )
        }
        return true
    }

    package func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        try faults.claim()
        let begun = BegunAttempt(upstream: upstream, beganAt: now.wall)
        await faults.write()
        let batch = try access(now) { $0.claim(route, limit: limit, begun) }
        if !batch.claims.isEmpty { await faults.interlude(.claim) }
        return batch
    }

    package func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        try faults.begin()
        await faults.write()
        return try access(now) { $0.begin(next, at: now) }
    }

    package func note(_ attempt: Attempt, of id: JobID, at now: JobMoment) async throws(StoreError) -> Bool {
        await faults.write()
        return try access(now) { $0.note(attempt, of: id) }
    }

    package func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        try faults.settle(settlements)
        await faults.write()
        let answers = try access(now) { state in settlements.map { state.settle($0) } }
        await faults.interlude(.settle)
        return answers
    }

    package func settle(
        _ settlement: Settlement,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) -> Bool {
        guard let teller = faults.teller(of: .settle) else { return false }
        let answer = Result { () throws(StoreError) in
            try faults.settle([settlement])
            return try access(now) { state in state.settle(settlement) }
        }
        teller { told(answer) }
        return true
    }

    package func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport {
        try faults.act()
        let report = try access(now, changes: !order.isDryRun) { $0.apply(order, at: now) }
        await faults.interlude(.apply(order.action))
        return report
    }

    package func sweep(
        _ retention: Retention,
        limit: Int,
        at now: JobMoment
    ) async throws(StoreError) -> SweepReport {
        try access(now, changes: false) { $0.sweep(retention, limit: limit) }
    }

    package func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        faults.looks.add(1, ordering: .relaxed)
        try faults.look()
        let job = try access { state in state.positions[id].flatMap { state.job($0) } }
        await faults.interlude(.look)
        return job
    }

    package func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try faults.look()
        return try access { $0.page(filter, order, limit, cursor) }
    }

    package func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try faults.look()
        return try access { state in
            guard let position = state.positions[id], let job = state.job(position),
                let entry = state.entries[position]
            else { return nil }
            var whole = WholeJob(job, entry.attempts.suffix(extent.attempts))
            whole.actions = entry.actions
            if extent.hasAnswer(of: job) { whole.answer = entry.answer }
            if extent.hasBodies { whole.body = entry.body }
            return whole
        }
    }

    package func body(of id: JobID) async throws(StoreError) -> StoredBody? {
        try access { state in state.positions[id].flatMap { state.entries[$0]?.body } }
    }

    package func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? {
        try access { state in state.positions[id].flatMap { state.entries[$0]?.answer } }
    }

    package func attempts(
        of id: JobID,
        after number: Int,
        limit: Int
    ) async throws(StoreError) -> [Attempt] {
        try access { state in
            let all = state.positions[id].flatMap { state.entries[$0]?.attempts } ?? []
            return Array(all.filter { $0.number > number }.prefix(limit))
        }
    }

    package func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        throw StoreError(.corrupt, "cannot read a file: this store keeps all bodies in memory")
    }

    package func spool() async throws(StoreError) -> any BodySpool {
        throw StoreError(.full, "cannot keep a body in a file: this store keeps all bodies in memory")
    }

    package func counters(at now: JobMoment, withDue: Bool) async throws(StoreError) -> JobCounters {
        try faults.read()
        return try access { state in
            var counters = JobCounters()
            for entry in state.entries.values {
                let (route, machine) = (entry.record.route, entry.machine)
                counters.add(
                    JobCounters.Group(route: route, state: machine.state),
                    count: 1,
                    minute: entry.created / 60_000,
                    nowMinute: now.wall / 60_000
                )
                if machine.state.isTerminal { continue }
                if entry.record.submitter == .ofNotices { counters.notices += 1 }
                counters.oldest[route] = min(counters.oldest[route] ?? .max, entry.created)
                let due = state.timeline.wall(ofLine: machine.runAt)
                if withDue, due <= now.wall,
                    machine.isReady || [.scheduled, .running].contains(machine.state)
                {
                    counters.due[route] = min(counters.due[route] ?? .max, due)
                }
                if machine.isReady, due > now.wall {
                    counters.next[route] = min(counters.next[route] ?? .max, due)
                }
            }
            counters.next = counters.next.filter { counters.count(.retrying, of: $0.key) > 0 }
            return counters
        }
    }

    package func failures(
        of route: String?,
        at now: JobMoment
    ) async throws(StoreError) -> [FailureKind: [Int]] {
        try access { state in
            var found: [FailureKind: [Int]] = [:]
            for entry in state.entries.values where !entry.machine.state.isTerminal {
                guard let kind = entry.machine.failureKind, route == nil || route == entry.record.route else {
                    continue
                }
                let bucket = JobCounters.bucket(ageMinutes: now.wall / 60_000 - entry.created / 60_000)
                found[kind, default: Array(repeating: 0, count: JobCounters.bucketCount)][bucket] += 1
            }
            return found
        }
    }

    package func count(_ isCounted: (JobState) -> Bool) -> Int {
        state.withLock { $0.counts.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 } }
    }

    package func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] {
        let counts = try access { state in
            state.entries.values.reduce(into: [UInt32?: Int]()) { counts, entry in
                if !entry.machine.state.isTerminal { counts[entry.record.submitter?.user, default: 0] += 1 }
            }
        }
        await faults.interlude(.countUsers)
        return counts
    }

    package func ending(
        by end: Int64,
        of routes: [String]
    ) async throws(StoreError) -> [String: EndingJobs] {
        try faults.read()
        return try access { state in
            var found: [String: EndingJobs] = [:]
            for entry in state.entries.values {
                let (route, machine) = (entry.record.route, entry.machine)
                if machine.state.isTerminal || machine.state == .running { continue }
                let expiry = machine.expiresAt.map(state.timeline.wall(ofLine:)) ?? .max
                let due = state.timeline.wall(ofLine: machine.runAt)
                let share = EndingJobs.Share(1, first: expiry)
                if expiry <= end, machine.state == .held {
                    found[route, default: EndingJobs()].held =
                        found[route, default: EndingJobs()].held + share
                } else if expiry <= end {
                    found[route, default: EndingJobs()].expiring =
                        found[route, default: EndingJobs()].expiring + share
                } else if let kind = machine.failureKind, machine.state != .held, due <= end,
                    routes.contains(route)
                {
                    found[route, default: EndingJobs()].failed.append(
                        EndingJobs.Failed(
                            kind,
                            machine.failureStatus,
                            made: Int(machine.attempts - machine.earlierAttempts),
                            spent: Int(machine.spentAttempts),
                            due: due,
                            count: 1
                        )
                    )
                }
            }
            return found
        }
    }

    package func facts() async throws(StoreError) -> StoreFacts { try access { $0.facts } }

    package func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try access(now) { $0.pauses[route] = pause }
    }

    package func pauses() async throws(StoreError) -> [String: RoutePause] {
        try faults.read()
        return try access { $0.pauses }
    }

    package func begin(_ run: ActionRun, at now: JobMoment) async throws(StoreError) -> ActionRun? {
        try access(now) { $0.begin(run) }
    }

    package func advance(
        _ run: Int64,
        by step: RunStep,
        at now: JobMoment
    ) async throws(StoreError) -> RunAdvance? {
        try faults.read()
        let advance = try access(now) { $0.advance(run, by: step, at: now) }
        if let advance { await faults.interlude(.apply(advance.run.action)) }
        return advance
    }

    package func end(
        _ run: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at now: JobMoment
    ) async throws(StoreError) -> ActionRun? {
        try access(now) { store in
            store.runs[run]?.end(state, by: by, failure: failure, at: now.wall)
            let ended = store.runs[run]
            for number in Array(store.runs.values).forgotten { store.runs[number] = nil }
            return ended
        }
    }

    package func runs() async throws(StoreError) -> [ActionRun] {
        try faults.read()
        return try access { $0.runs.values.sorted { $0.number < $1.number } }
    }

    package func close() async { state.withLock { $0.isClosed = true } }
}
