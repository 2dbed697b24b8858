import RelayBase
import RelayJobs
import Testing

/// The same random steps on a store and on the plain one in memory.
package struct StoreWalk {
    private var random: SplitMix64
    private let capabilities: StoreCapabilities
    private let hasFault: Bool
    private let tested: any StoreUnderTest
    private let model = MemoryBench()
    private var ids: [JobID] = []
    private var claims: [JobID: (tested: Claim, model: Claim)] = [:]

    /// A store that has a fault is to be found out behind crashes.
    package init(
        _ tested: any StoreUnderTest,
        _ capabilities: StoreCapabilities = .all,
        seed: UInt64,
        hasFault: Bool = false
    ) {
        self.tested = tested
        self.capabilities = capabilities
        self.hasFault = hasFault
        random = SplitMix64(seed: seed)
    }

    private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }
    private mutating func route() -> String { ["a", "b", "c"][roll(3)] }

    package mutating func step() async throws {
        switch roll(100) {
        case 0..<35: try await accept()
        case 35..<60: try await claim()
        case 60..<80: try await settle()
        // The traces of a fault are looked for behind crashes, and an action might meet them before.
        case 80..<91: if !hasFault { try await act() }
        case 91..<95: try await sweep()
        case 95..<98:
            let jump = Int64(roll(20_000))
            try await tested.advance(by: jump)
            try await model.advance(by: jump)
        case 98:
            let step = Int64(roll(200_000) - 100_000)
            guard capabilities.contains(.wallSteps) else { return }
            tested.stepWall(by: step)
            model.stepWall(by: step)
        default: if roll(3) == 0, capabilities.contains(.survives) { try await crash() }
        }
    }

    package func crash(after milliseconds: Int64 = 1_000) async throws {
        try await tested.reopen(after: milliseconds)
        try await model.reopen(after: milliseconds)
        // Of those that are only not shown any more a store knows by its first sweep.
        if !capabilities.contains(.removesSingly) { try await sweep() }
    }

    /// Changes the form of one of the last jobs.
    package mutating func rearrange() async throws {
        let last = Array(ids.suffix(20))
        if !last.isEmpty { try await tested.rearrange(last[roll(last.count)]) }
    }

    private mutating func accept() async throws {
        let route = route()
        var job = tested.newJob(route, body: String(repeating: "x", count: roll(50)))
        job.record.priority = UInt8(roll(8))
        if roll(4) > 0 { job.record.submitter = JobRecord.Submitter(user: UInt32(roll(3)), unit: nil) }
        if !capabilities.contains(.turnsExactly) {
            job.record.priority = 3
            job.record.submitter = nil
        }
        // Half of them are plain ones in any case.
        let mayBeOther = roll(2) == 0
        if mayBeOther, roll(3) == 0 { job.record.orderingKey = "k\(roll(3))" }
        if mayBeOther, roll(6) == 0 { job.record.supersedeKey = "s\(roll(2))" }
        if mayBeOther, roll(4) == 0 { job.record.labels = ["l=\(roll(3))", "m=\(roll(3))"] }
        job.record.mayRepeat = roll(4) > 0
        switch mayBeOther ? roll(6) : 6 {
        case 0, 6: if mayBeOther || roll(4) == 0 { job.due = .after(.milliseconds(roll(30_000))) }
        case 1: job.due = .date(tested.now.wall + Int64(roll(60_000) - 10_000))
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
        if roll(2) == 0, capabilities.contains(.birthsExactly) { job.upstream = "one" }
        let one = try await tested.store.enqueue([job], at: tested.now)[0]
        let other = try await model.store.enqueue([job], at: model.now)[0]
        switch (one, other) {
        case (.running(let left), .running(let right)):
            claims[job.record.id] = (
                Claim(left, of: job, to: "one", at: tested.now),
                Claim(right, of: job, to: "one", at: model.now)
            )
        default: #expect(one == other)
        }
        if one.isAccepted { ids.append(job.record.id) }
    }

    private mutating func claim() async throws {
        let (route, limit) = (route(), roll(4) + 1)
        // A job that expires while it is looked at may let another go; a store need not see that one at once.
        _ = try await tested.store.sweep(Retention(), limit: 500, at: tested.now)
        _ = try await model.store.sweep(Retention(), limit: 500, at: model.now)
        let left = try await tested.store.claim(route, limit: limit, at: tested.now)
        let right = try await model.store.claim(route, limit: limit, at: model.now)
        #expect(left.claims.map(\.token.id) == right.claims.map(\.token.id))
        #expect(left.nextDue == right.nextDue)
        for (one, other) in zip(left.claims, right.claims) {
            #expect(one.body == other.body && one.job.runAt <= tested.now.wall + 100_000)
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
        let one = try await tested.settle(
            pair.tested,
            ending,
            attempts: attempts,
            answer: kept,
            kind: hasSucceeded ? nil : "http_status"
        )
        let other = try await model.settle(
            pair.model,
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
        let one = try await tested.apply(action, filter, limit: limit)
        let other = try await model.apply(action, filter, limit: limit)
        #expect(one.matched == other.matched && one.changes.map(\.text) == other.changes.map(\.text))
    }

    private func sweep() async throws {
        var retention = Retention()
        retention.succeeded = .seconds(30)
        retention.dead = .seconds(120)
        retention.bodies = .seconds(60)
        let one = try await tested.store.sweep(retention, limit: 500, at: tested.now)
        let other = try await model.store.sweep(retention, limit: 500, at: model.now)
        #expect(
            Set(one.ended.map(\.text)) == Set(other.ended.map(\.text))
                && (one.removed == other.removed || !capabilities.contains(.removesSingly))
                && one.expunged == other.expunged
        )
    }
}

extension StoreWalk {
    /// Everything that can be read is the same, and the counters are what counting gives.
    package func compare(_ place: String) async throws {
        let left = try await all(tested)
        let right = try await all(model)
        #expect(left.map(\.text) == right.map(\.text), "\(place)")
        let counted = left.reduce(into: [JobCounters.Group: Int]()) {
            $0[JobCounters.Group(route: $1.record.route, state: $1.state), default: 0] += 1
        }
        let counters = try await tested.store.counters(at: tested.now, withDue: true)
        let others = try await model.store.counters(at: model.now, withDue: true)
        // Where counts are to the minute, so are those of jobs that have succeeded and are gone.
        func exact(_ counts: [JobCounters.Group: Int]) -> [JobCounters.Group: Int] {
            counts.filter { group, count in
                count != 0 && (group.state != .succeeded || capabilities.contains(.countsExactly))
            }
        }
        #expect(exact(counters.counts) == exact(counted), "\(place)")
        #expect(exact(others.counts) == exact(counters.counts) && others.ages == counters.ages, "\(place)")
        #expect(others.next == counters.next, "\(place)")
        // By a clock that has stepped, or a date that was over, they have been due for longer or not as long.
        #expect(Set(others.due.keys) == Set(counters.due.keys), "\(place)")
        // A job of the oldest minute: where the clock has stepped within it, or a job before was given another life, not
        // certainly the first.
        #expect(
            others.oldest.mapValues { $0 / 60_000 } == counters.oldest.mapValues { $0 / 60_000 },
            "\(place)"
        )
        for (route, time) in counters.oldest where capabilities.contains(.countsExactly) {
            #expect(
                left.contains { $0.record.route == route && !$0.state.isTerminal && $0.createdAt == time },
                "\(place)"
            )
        }
        for job in left {
            let id = job.record.id
            #expect(try await tested.store.body(of: id) == model.store.body(of: id))
            #expect(try await tested.store.answer(of: id)?.body == model.store.answer(of: id)?.body)
            let attempts = try await tested.store.attempts(of: id, after: 0, limit: 500)
            #expect(attempts.count == job.attempts)
            let extent = WholeJob.Extent(attempts: 0, hasBodies: false)
            let actions = try await tested.store.whole(id, extent)?.actions
            #expect(try await model.store.whole(id, extent)?.actions == actions)
            #expect(
                try await model.store.attempts(of: id, after: 0, limit: 500).map(\.number)
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
    package func differs() async throws -> Bool {
        try await all(tested).map(\.text) != all(model).map(\.text)
    }

    private func all(_ bench: any StoreUnderTest) async throws -> [StoredJob] {
        try await bench.hear()
        return try await bench.list()
    }
}
