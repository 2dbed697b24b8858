import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A store on disk does what the plain one in memory does", .timeLimit(.minutes(5)))
struct WalkTests {
    @Test(
        "Thousands of random steps, crashes and clock steps between them, leave both the same",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64]
    )
    func walk(seed: UInt64) async throws {
        var walk = try await Walk(seed: seed)
        for step in 0..<1_500 {
            try await walk.step()
            if step % 100 == 99 { try await walk.compare("seed \(seed), step \(step)") }
        }
    }

    @Test(
        "They leave both the same when a job of the store changes its form behind every step",
        arguments: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as [UInt64]
    )
    func unfolding(seed: UInt64) async throws {
        var walk = try await Walk(seed: seed)
        for step in 0..<1_000 {
            try await walk.step()
            try await walk.unfold()
            if step % 100 == 99 { try await walk.compare("seed \(seed), step \(step)") }
        }
    }

    @Test(
        "A store that does not keep what was claimed on record does not pass",
        arguments: [.losesClaims, .decidesAgain] as [StoreFault]
    )
    func fault(_ fault: StoreFault) async throws {
        var walk = try await Walk(seed: 1, fault: fault)
        for _ in 0..<40 {
            for _ in 0..<20 { try await walk.step() }
            try await walk.crash(after: 30_000)
            if try await walk.differs() { return }
        }
        Issue.record("it went unseen")
    }
}

/// The same steps on two stores.
struct Walk {
    private var random: SplitMix64
    private let hasFault: Bool
    private let disk: StoreBench
    private let memory: StoreBench
    private var ids: [JobID] = []
    private var claims: [JobID: (disk: Claim, memory: Claim)] = [:]

    init(seed: UInt64, fault: StoreFault? = nil) async throws {
        random = SplitMix64(seed: seed)
        hasFault = fault != nil
        // Now none of the ordering keys are written until the next start looks for them, now nearly all.
        disk = try await StoreBench(
            .sqlite,
            orderingKeysInMemory: [2, 4, 32_768][Int(seed % 3)],
            fault: fault
        )
        memory = try await StoreBench(.memory)
    }

    private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }
    private mutating func route() -> String { ["a", "b", "c"][roll(3)] }

    mutating func step() async throws {
        switch roll(100) {
        case 0..<35: try await accept()
        case 35..<60: try await claim()
        case 60..<80: try await settle()
        // The traces of a fault are looked for behind crashes, and an action might meet them before.
        case 80..<91: if !hasFault { try await act() }
        case 91..<95: try await sweep()
        case 95..<98:
            let jump = Int64(roll(20_000))
            disk.advance(jump)
            memory.advance(jump)
        case 98:
            let step = Int64(roll(200_000) - 100_000)
            disk.stepWall(step)
            memory.stepWall(step)
        default: if roll(3) == 0 { try await crash() }
        }
    }

    func crash(after milliseconds: Int64 = 1_000) async throws {
        try await disk.reopen(after: milliseconds)
        try await memory.reopen(after: milliseconds)
    }

    /// Makes the rows that others have of one of the last plain jobs, which changes nothing that anybody sees.
    mutating func unfold() async throws {
        let last = Array(ids.suffix(20))
        if !last.isEmpty { try await disk.unfold(last[roll(last.count)]) }
    }

    private mutating func accept() async throws {
        let route = route()
        var job = disk.newJob(route, body: String(repeating: "x", count: roll(50)))
        job.record.priority = UInt8(roll(8))
        if roll(4) > 0 { job.record.submitter = JobRecord.Submitter(user: UInt32(roll(3)), unit: nil) }
        // Half of them are plain ones in any case.
        let mayBeOther = roll(2) == 0
        if mayBeOther, roll(3) == 0 { job.record.orderingKey = "k\(roll(3))" }
        if mayBeOther, roll(6) == 0 { job.record.supersedeKey = "s\(roll(2))" }
        if mayBeOther, roll(4) == 0 { job.record.labels = ["l=\(roll(3))", "m=\(roll(3))"] }
        job.record.mayRepeat = roll(4) > 0
        switch mayBeOther ? roll(6) : 6 {
        case 0, 6: if mayBeOther || roll(4) == 0 { job.due = .after(.milliseconds(roll(30_000))) }
        case 1: job.due = .date(disk.now.wall + Int64(roll(60_000) - 10_000))
        default: break
        }
        if roll(4) == 0 { job.expiresAfter = .milliseconds(roll(60_000)) }
        if roll(3) == 0 {
            job.idempotency = NewJob.Idempotency(
                user: UInt32(roll(2)),
                key: "i\(roll(20))",
                fingerprint: [UInt8(roll(2))],
                window: .milliseconds(roll(60_000))
            )
        }
        if roll(2) == 0 { job.upstream = "one" }
        let one = try await disk.store.enqueue([job], at: disk.now)[0]
        let other = try await memory.store.enqueue([job], at: memory.now)[0]
        switch (one, other) {
        case (.running(let left), .running(let right)):
            claims[job.record.id] = (
                Claim(left, of: job, to: "one", at: disk.now),
                Claim(right, of: job, to: "one", at: memory.now)
            )
        default: #expect(one == other)
        }
        if one.isAccepted { ids.append(job.record.id) }
    }

    private mutating func claim() async throws {
        let (route, limit) = (route(), roll(4) + 1)
        // A job that expires while it is looked at may let another go; a store need not see that one at once.
        _ = try await disk.store.sweep(Retention(), limit: 500, at: disk.now)
        _ = try await memory.store.sweep(Retention(), limit: 500, at: memory.now)
        let left = try await disk.store.claim(route, limit: limit, at: disk.now)
        let right = try await memory.store.claim(route, limit: limit, at: memory.now)
        #expect(left.claims.map(\.token.id) == right.claims.map(\.token.id))
        #expect(left.nextDue == right.nextDue)
        for (one, other) in zip(left.claims, right.claims) {
            #expect(one.body == other.body && one.job.runAt <= disk.now.wall + 100_000)
            claims[one.token.id] = (one, other)
        }
    }

    private mutating func settle() async throws {
        guard !claims.isEmpty else { return }
        let id = claims.keys.sorted { $0.description < $1.description }[roll(claims.count)]
        guard let pair = claims[id] else { return }
        // Old claims are kept now and then, to be settled too late.
        if roll(5) > 0 { claims[id] = nil }
        let endings: [Settlement.Ending] = [
            .succeeded, .succeeded, .dead(.exhausted), .retry(after: .milliseconds(roll(20_000)), .backoff),
            .requeued(after: .milliseconds(roll(2) * 5_000), roll(2) == 0 ? nil : .breakerOpen),
            .held(.credentials), .cancelled,
            .expired,
        ]
        let hasSucceeded = roll(3) == 0
        let ending = hasSucceeded ? .succeeded : endings[roll(endings.count)]
        let attempts = hasSucceeded ? 1 : roll(3)
        let answer = StoredAnswer(status: 500, fields: HeaderFields(), body: .bytes([UInt8(roll(256))]))
        let kept = roll(2) == 0 ? answer : nil
        let one = try await disk.settle(
            pair.disk,
            ending,
            attempts: attempts,
            answer: kept,
            kind: hasSucceeded ? nil : "http_status"
        )
        let other = try await memory.settle(
            pair.memory,
            ending,
            attempts: attempts,
            answer: kept,
            kind: hasSucceeded ? nil : "http_status"
        )
        #expect(one == other)
    }

    private mutating func act() async throws {
        let action = JobAction.allCases[roll(JobAction.allCases.count)]
        var filter = JobFilter()
        switch roll(4) {
        case 0:
            filter.states = [JobState.allCases[roll(9)]]
            filter.route = route()
        case 1: filter.label = "l=\(roll(3))"
        default:
            guard !ids.isEmpty else { return }
            filter.ids = [ids[roll(ids.count)]]
        }
        let limit = roll(5) + 1
        let one = try await disk.apply(action, filter, limit: limit)
        let other = try await memory.apply(action, filter, limit: limit)
        #expect(one.matched == other.matched && one.changes.map(\.text) == other.changes.map(\.text))
    }

    private mutating func sweep() async throws {
        var retention = Retention()
        retention.succeeded = .seconds(30)
        retention.dead = .seconds(120)
        retention.bodies = .seconds(60)
        let one = try await disk.store.sweep(retention, limit: 500, at: disk.now)
        let other = try await memory.store.sweep(retention, limit: 500, at: memory.now)
        #expect(
            Set(one.ended.map(\.text)) == Set(other.ended.map(\.text))
                && one.removed == other.removed && one.expunged == other.expunged
        )
    }
}

extension Walk {
    /// Everything that can be read is the same, and the counters are what counting gives.
    func compare(_ place: String) async throws {
        let left = try await all(disk)
        let right = try await all(memory)
        #expect(left.map(\.text) == right.map(\.text), "\(place)")
        let counted = left.reduce(into: [JobCounters.Group: Int]()) {
            $0[JobCounters.Group(route: $1.record.route, state: $1.state), default: 0] += 1
        }
        let counters = try await disk.store.counters(at: disk.now, withDue: true)
        #expect(counters.counts.filter { $0.value != 0 } == counted, "\(place)")
        let others = try await memory.store.counters(at: memory.now, withDue: true)
        #expect(others.counts == counters.counts && others.ages == counters.ages, "\(place)")
        #expect(others.next == counters.next, "\(place)")
        // By a clock that has stepped, or a date that was over, they have been due for longer or not as long.
        #expect(Set(others.due.keys) == Set(counters.due.keys), "\(place)")
        // A job of the oldest minute: where the clock has stepped within it, or a job before was given another life, not
        // certainly the first.
        #expect(
            others.oldest.mapValues { $0 / 60_000 } == counters.oldest.mapValues { $0 / 60_000 },
            "\(place)"
        )
        for (route, time) in counters.oldest {
            #expect(
                left.contains { $0.record.route == route && !$0.state.isTerminal && $0.createdAt == time },
                "\(place)"
            )
        }
        for job in left {
            let id = job.record.id
            #expect(try await disk.store.body(of: id) == memory.store.body(of: id))
            #expect(try await disk.store.answer(of: id)?.body == memory.store.answer(of: id)?.body)
            let attempts = try await disk.store.attempts(of: id, after: 0, limit: 500)
            #expect(attempts.count == job.attempts)
            let extent = WholeJob.Extent(attempts: 0, hasBodies: false)
            let actions = try await disk.store.whole(id, extent)?.actions
            #expect(try await memory.store.whole(id, extent)?.actions == actions)
            #expect(
                try await memory.store.attempts(of: id, after: 0, limit: 500).map(\.number)
                    == attempts.map(\.number)
            )
        }
        // At most one ready or running job of an ordering key.
        let free = left.filter {
            [.queued, .running, .retrying].contains($0.state) && $0.reason != .ordering
        }
        let keys = free.compactMap { job in job.record.orderingScope.map { job.record.route + $0 } }
        #expect(Set(keys).count == keys.count, "\(place)")
    }

    /// Whether the two have other jobs.
    func differs() async throws -> Bool { try await all(disk).map(\.text) != all(memory).map(\.text) }

    private func all(_ bench: StoreBench) async throws -> [StoredJob] {
        _ = try await bench.store.settle([], at: bench.now)
        var jobs: [StoredJob] = []
        var cursor: JobCursor?
        repeat {
            let page = try await bench.store.jobs(JobFilter(), order: .oldestFirst, limit: 500, after: cursor)
            jobs += page.jobs
            cursor = page.next
        } while cursor != nil
        return jobs
    }
}

extension StoredJob {
    /// All of it but the position, which a store may choose.
    var text: String {
        [
            "\(record.id)", record.route, state.name, reason?.name ?? "-", end?.rawValue ?? "-",
            failureKind?.rawValue ?? "-", "\(createdAt) \(runAt) \(expiresAt ?? 0) \(finishedAt ?? 0)",
            "\(attempts) \(spentAttempts) \(crashes) v\(version) \(earlierAttempts) \(isCancelAsked) \(bodyLength) \(hasBody) \(hasAnswer)",
            record.labels.joined(separator: ","), record.orderingKey ?? "-",
        ].joined(separator: " ")
    }
}
