import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Synchronization
import Testing

@Suite("A user of one node's machine is another user at another node", .timeLimit(.minutes(2)))
struct OwnersTests {
    private static let ids = Atomic<UInt64>(1)
    private static let user = JobRecord.Submitter(user: 1_000, unit: nil)

    private static func job(_ change: (inout NewJob) -> Void = { _ in }) -> NewJob {
        let id = JobID(
            milliseconds: JobMoment.present.wall,
            random: (8, ids.add(1, ordering: .relaxed).newValue)
        )
        let record = JobRecord(id: id, route: "hooks", method: .post, target: "x", submitter: user)
        var job = NewJob(record, body: .bytes([1]))
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

    /// The filter of somebody who may see their own jobs alone.
    private static func own(at store: PostgreSQLJobStore) -> JobFilter {
        var filter = JobFilter()
        (filter.user, filter.node) = (1_000, store.member?.usersNode ?? .none)
        return filter
    }

    private static func pair(sharesUsers: Bool = false) async throws -> [PostgreSQLJobStore] {
        let nodes = try await Nodes()
        return [
            try await nodes.open("one") { $0.sharesUsers = sharesUsers },
            try await nodes.open("two") { $0.sharesUsers = sharesUsers },
        ]
    }

    private static func claim(_ store: PostgreSQLJobStore, _ count: Int = 1) async throws -> [Claim] {
        var claims: [Claim] = []
        try await until {
            claims += try await store.claim("hooks", limit: count, upstream: "eu", at: .present).claims
            return claims.count >= count
        }
        return claims
    }

    @Test(
        "They see, count and cancel their own jobs alone, of which each tells its node; shared users all of them"
    )
    func rights() async throws {
        for sharesUsers in [false, true] {
            let stores = try await Self.pair(sharesUsers: sharesUsers)
            let ids = [try await Self.accept(stores[0]), try await Self.accept(stores[1])]
            let nobodys = try await Self.accept(stores[0]) { $0.record.submitter = nil }
            for (index, store) in stores.enumerated() {
                let page = try await store.jobs(
                    Self.own(at: store),
                    order: .oldestFirst,
                    limit: 9,
                    after: nil
                )
                #expect(page.jobs.map(\.record.id) == (sharesUsers ? ids : [ids[index]]))
                let nodes = page.jobs.map(\.record.submitter?.node.text)
                #expect(nodes == (sharesUsers ? [nil, nil] : [store.member?.node.text]))
                let counts = try await store.unfinishedByUser()
                #expect(counts == [1_000: sharesUsers ? 2 : 1, nil: 1])
            }
            let order = ActionOrder(
                .cancel,
                Self.own(at: stores[1]),
                limit: 9,
                by: .user(Principal(7, on: NodeName("two")), isBulk: true)
            )
            let cancelled = try await stores[1].apply(order, at: .present).changes.map(\.id)
            #expect(cancelled == (sharesUsers ? ids : [ids[1]]))
            #expect(try await stores[1].job(ids[0])?.state == (sharesUsers ? .cancelled : .queued))
            #expect(try await stores[1].job(nobodys)?.state == .queued)
            let actions = try await stores[0].whole(ids[1], WholeJob.Extent(attempts: 1, hasBodies: false))?
                .actions
            #expect(actions?.map(\.by?.node.text) == ["two"])
            for store in stores { await store.close() }
        }
    }

    @Test(
        "A key of theirs is not the same user's number's at another node; a caller's of a port is everywhere"
    )
    func keys() async throws {
        let stores = try await Self.pair()
        func results(_ user: UInt32) async throws -> [EnqueueResult] {
            var results: [EnqueueResult] = []
            for store in stores {
                let job = Self.job {
                    $0.idempotency = NewJob.Idempotency(
                        user: user,
                        key: "k",
                        fingerprint: [1],
                        window: .seconds(600)
                    )
                }
                results += try await store.enqueue([job], at: .present)
            }
            return results
        }
        #expect(try await results(1_000) == [.accepted, .accepted])
        let ports = try await results(.max)
        #expect(ports[0] == .accepted && !ports[1].isAccepted)
        for store in stores { await store.close() }
    }

    @Test("Ordering and supersede keys of theirs bind no job of another node's user")
    func turns() async throws {
        let stores = try await Self.pair()
        var ids: [JobID] = []
        for store in stores { ids.append(try await Self.accept(store) { $0.record.orderingKey = "k" }) }
        for store in stores { ids.append(try await Self.accept(store) { $0.record.supersedeKey = "k" }) }
        #expect(Set(try await Self.claim(stores[1], 4).map(\.token.id)) == Set(ids))
        for store in stores { await store.close() }
    }

    @Test("They take turns as two users do")
    func shares() async throws {
        let stores = try await Self.pair()
        let many = try await stores[0].enqueue((0..<6).map { _ in Self.job() }, at: .present)
        #expect(many.allSatisfy { $0 == .accepted })
        let others = [try await Self.accept(stores[1]), try await Self.accept(stores[1])]
        let claims = try await Self.claim(stores[1], 4).map(\.token.id)
        #expect(claims.count { others.contains($0) } == 2)
        for store in stores { await store.close() }
    }

    @Test("Each attempt tells the node that made it")
    func attempts() async throws {
        let stores = try await Self.pair()
        let id = try await Self.accept(stores[0])
        for (store, ending) in [
            (stores[0], Settlement.Ending.retry(after: .zero, .backoff)), (stores[1], .succeeded),
        ] {
            let claim = try await Self.claim(store)[0]
            var settlement = Settlement(claim.token, ending)
            settlement.attempts = [Attempt(number: 1, upstream: "eu", beganAt: 7)]
            #expect(try await store.settle([settlement], at: .present)[0] != .stale)
        }
        let attempts = try await stores[0].attempts(of: id, after: 0, limit: 9)
        #expect(attempts.map(\.node.text) == ["one", "two"])
        for store in stores { await store.close() }
    }
}
