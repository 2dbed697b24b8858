import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Synchronization
import Testing

@Suite("Nodes of one fleet share its jobs", .timeLimit(.minutes(2)))
struct NodesTests {
    private static let ids = Atomic<UInt64>(1)

    private static func job(_ change: (inout NewJob) -> Void = { _ in }) -> NewJob {
        let id = JobID(
            milliseconds: JobMoment.present.wall,
            random: (7, ids.add(1, ordering: .relaxed).newValue)
        )
        var job = NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: .bytes([1, 2]))
        change(&job)
        return job
    }

    private static func accept(
        _ store: PostgreSQLJobStore,
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> JobID {
        let job = job(change)
        #expect(try await store.enqueue([job], at: .present) == [.accepted])
        return job.record.id
    }

    private static func claim(_ store: PostgreSQLJobStore) async throws -> Claim {
        try await store.nextClaim()
    }

    private static func settle(
        _ store: PostgreSQLJobStore,
        _ claim: Claim,
        _ ending: Settlement.Ending = .succeeded
    ) async throws -> Settlement.Answer {
        try await store.settle([Settlement(claim.token, ending)], at: .present)[0]
    }

    @Test("A job that one node has accepted is claimed by another, and once")
    func shared() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.open("one"), try await nodes.open("two"))
        let id = try await Self.accept(one)
        let claim = try await Self.claim(two)
        #expect(claim.token.id == id && claim.body == .bytes([1, 2]))
        #expect(try await one.claim("hooks", limit: 9, upstream: "eu", at: .present).claims.isEmpty)
        #expect(try await one.job(id)?.state == .running)
        #expect(try await Self.settle(two, claim) == .applied(.succeeded))
        #expect(try await one.job(id)?.state == .succeeded)
        await one.close()
        await two.close()
    }

    @Test("Two nodes that claim at once get no job twice, and together all of them")
    func contention() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.open("one"), try await nodes.open("two"))
        let jobs = (0..<200).map { _ in Self.job() }
        #expect(try await one.enqueue(jobs, at: .present).allSatisfy { $0 == .accepted })
        let claimed = Notes<JobID>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in [one, two] {
                group.addTask {
                    try await until {
                        let batch = try await store.claim("hooks", limit: 7, upstream: "eu", at: .present)
                        claimed.add(batch.claims.map(\.token.id))
                        return claimed.values.count >= 200
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = claimed.values
        #expect(all.count == 200 && Set(all) == Set(jobs.map(\.record.id)))
        await one.close()
        await two.close()
    }

    @Test("A dead node's jobs are another's when its lease is over; its late word changes nothing")
    func takeOver() async throws {
        let nodes = try await Nodes()
        let lease: Duration = .milliseconds(1_500)
        let one = try await nodes.open("one", lease: lease)
        let id = try await Self.accept(one)
        let lost = try await Self.claim(one)
        let two = try await nodes.open("two", lease: lease)
        #expect(try await two.claim("hooks", limit: 1, upstream: "eu", at: .present).claims.isEmpty)
        await one.breakOff()
        let claim = try await Self.claim(two)
        #expect(claim.token.id == id && claim.token != lost.token)
        #expect(claim.job.crashes == 1 && claim.job.attempts == 1)
        let attempts = try await two.attempts(of: id, after: 0, limit: 9)
        #expect(attempts.map(\.failure?.kind) == [.interrupted] && attempts.map(\.node.text) == ["one"])
        // The dead one comes back under its name, with a token of before.
        let back = try await nodes.open("one", lease: lease)
        #expect(try await Self.settle(back, lost) == .stale)
        #expect(try await Self.settle(two, claim) == .applied(.succeeded))
        await back.close()
        await two.close()
    }

    @Test("A node that comes back with its state directory takes its own jobs over at once")
    func restart() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one", lease: .seconds(600))
        let id = try await Self.accept(one)
        _ = try await Self.claim(one)
        await one.breakOff()
        let back = try await nodes.open("one", lease: .seconds(600))
        #expect(try await back.job(id)?.state == .retrying)
        #expect(try await Self.claim(back).token.id == id)
        await back.close()
    }

    @Test("The name of a node that lives is refused to another state directory, with the machine that has it")
    func name() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let error = await #expect(throws: StoreError.self) {
            _ = try await nodes.open("one", identity: "copied")
        }
        #expect(error?.code == .locked)
        #expect(error?.message.contains(text: "machine-of-one") == true)
        await one.close()
        // It has ended its lease.
        let other = try await nodes.open("one", identity: "copied")
        await other.close()
    }

    @Test("Somebody who cancels a job at one node reaches the one that runs it")
    func cancel() async throws {
        let nodes = try await Nodes()
        let asked = Notes<JobID>()
        var events = JobStoreEvents()
        events.asked = { asked.add($0) }
        let (one, two) = (try await nodes.open("one", events: events), try await nodes.open("two"))
        let id = try await Self.accept(one)
        let claim = try await Self.claim(one)
        var filter = JobFilter()
        filter.ids = [id]
        let order = ActionOrder(.cancel, filter, limit: 1, by: .user(nil, isBulk: false))
        #expect(try await two.apply(order, at: .present).asked == [id])
        while asked.values.isEmpty { _ = try await one.facts() }
        #expect(asked.values == [id])
        #expect(
            try await Self.settle(one, claim, .retry(after: .seconds(9), .backoff))
                == .applied(.cancelled, .cancelled)
        )
        await one.close()
        await two.close()
    }

    @Test(
        "A newer job of another node leaves the one that runs no other attempt, and a pause there is told here"
    )
    func supersede() async throws {
        let nodes = try await Nodes()
        let paused = Notes<String>()
        var events = JobStoreEvents()
        events.paused = { paused.add($0.keys) }
        let (one, two) = (try await nodes.open("one", events: events), try await nodes.open("two"))
        let id = try await Self.accept(one) { $0.record.supersedeKey = "k" }
        let claim = try await Self.claim(one)
        let newer = try await Self.accept(two) { $0.record.supersedeKey = "k" }
        #expect(claim.token.id == id)
        let next = NextAttempt(claim.token, upstream: "eu", earlier: [])
        #expect(try await !one.begin(next, at: .present))
        try await two.pause("hooks", RoutePause(reason: "r", began: 0), at: .present)
        while paused.values.isEmpty, !Task.isCancelled { _ = try await one.facts() }
        #expect(paused.values == ["hooks"])
        let answer = try await Self.settle(one, claim, .retry(after: .seconds(9), .backoff))
        #expect(answer == .applied(.cancelled, .superseded))
        #expect(try await Self.claim(one).token.id == newer)
        await one.close()
        await two.close()
    }

    @Test("Jobs of one ordering key go one at a time and in order, whichever nodes send them")
    func order() async throws {
        let nodes = try await Nodes()
        let stores = [try await nodes.open("one"), try await nodes.open("two")]
        var ids: [JobID] = []
        for index in 0..<6 {
            ids.append(try await Self.accept(stores[index % 2]) { $0.record.orderingKey = "k" })
        }
        for (index, id) in ids.enumerated() {
            let claim = try await Self.claim(stores[(index + 1) % 2])
            #expect(claim.token.id == id)
            for store in stores {
                #expect(try await store.claim("hooks", limit: 9, upstream: "eu", at: .present).claims.isEmpty)
            }
            #expect(try await Self.settle(stores[(index + 1) % 2], claim) == .applied(.succeeded))
        }
        for store in stores { await store.close() }
    }

    @Test("One key handed over to two nodes at once is one job")
    func key() async throws {
        let nodes = try await Nodes()
        let stores = [
            try await nodes.open("one") { $0.sharesUsers = true },
            try await nodes.open("two") { $0.sharesUsers = true },
        ]
        let idempotency = NewJob.Idempotency(user: 1, key: "k", fingerprint: [1], window: .seconds(600))
        for _ in 0..<20 {
            var key = idempotency
            key.key = "\(Self.ids.add(1, ordering: .relaxed).newValue)"
            let results = try await withThrowingTaskGroup(of: EnqueueResult.self) { group in
                for store in stores {
                    let job = Self.job { $0.idempotency = key }
                    group.addTask { try await store.enqueue([job], at: .present)[0] }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .accepted } == 1)
            #expect(results.count { if case .duplicate = $0 { true } else { false } } == 1)
        }
        for store in stores { await store.close() }
    }

    @Test("A node whose lease was given to another generation ends what it runs, and takes its name again")
    func rejoin() async throws {
        let nodes = try await Nodes()
        let asked = Notes<JobID>()
        var events = JobStoreEvents()
        events.asked = { asked.add($0) }
        let one = try await nodes.open("one", lease: .milliseconds(1_500), events: events)
        let id = try await Self.accept(one)
        let claim = try await Self.claim(one)
        // As a node does that takes over.
        try await nodes.sql(
            """
            UPDATE SCHEMA.node SET former = former || generation, generation = nextval('SCHEMA.generation')
            """
        )
        while asked.values.isEmpty { _ = try await one.facts() }
        #expect(asked.values == [id])
        #expect(await one.opened(within: .seconds(60)) == nil)
        let again = try await Self.claim(one)
        #expect(again.token.id == id && again.token != claim.token)
        // A request under the claim before may still wait for its connection.
        #expect(!one.maySend(claim.token) && one.maySend(again.token))
        #expect(try await Self.settle(one, claim) == .stale)
        #expect(try await Self.settle(one, again) == .applied(.succeeded))
        await one.close()
    }

    @Test("Work that a node could not claim while its lease was unsure is told of again once it is sure")
    func unsure() async throws {
        let nodes = try await Nodes()
        let told = Notes<String>()
        var events = JobStoreEvents()
        events.ready = { told.add(Array($0.keys)) }
        let one = try await nodes.open("one", lease: .milliseconds(1_500), events: events)
        async let held = nodes.sql(
            "DO $$ BEGIN PERFORM FROM SCHEMA.node FOR UPDATE; PERFORM pg_sleep(3); END $$"
        )
        var id = try await Self.accept(one)
        while let claim = try await one.claim("hooks", limit: 1, upstream: "eu", at: .present).claims.first {
            #expect(try await Self.settle(one, claim) == .applied(.succeeded))
            id = try await Self.accept(one)
        }
        let before = told.values.count
        _ = try await held
        try await until { try await one.facts().nodes >= 0 && told.values.count != before }
        #expect(try await Self.claim(one).token.id == id)
        await one.close()
    }

    @Test("A node hears of what others have accepted until nothing waits, and that it may be any number")
    func toldAgain() async throws {
        let nodes = try await Nodes()
        let told = Notes<FreshWork>()
        var events = JobStoreEvents()
        events.ready = { told.add(Array($0.values)) }
        let (one, two) = (try await nodes.open("one"), try await nodes.open("two", events: events))
        for _ in 0..<3 { _ = try await Self.accept(one) }
        for _ in 0..<3 {
            let before = told.values.count
            try await until { try await two.facts().nodes >= 0 && told.values.count != before }
            _ = try await Self.claim(two)
        }
        #expect(told.values.allSatisfy { $0.hasDates })
        await one.close()
        await two.close()
    }

    @Test("A job may lose a settlement to another node's, but not have two")
    func fence() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let id = try await Self.accept(one)
        let claim = try await Self.claim(one)
        // Somebody else's change of the same number is there first.
        try await nodes.sql(
            """
            INSERT INTO SCHEMA.change(slot, seq, n, at, state, standing)
            SELECT slot, seq, n + 1, at, state, standing FROM SCHEMA.change ORDER BY n DESC LIMIT 1
            """
        )
        #expect(try await Self.settle(one, claim) == .stale)
        #expect(try await one.job(id)?.state != .succeeded)
        await one.close()
    }
}
