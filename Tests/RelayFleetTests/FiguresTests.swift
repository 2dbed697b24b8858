import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayTestSupport
import Synchronization
import Testing

@Suite("The cost of a job's life in a database", .serialized, .timeLimit(.minutes(3)))
struct FiguresTests {
    private static let ids = Atomic<UInt64>(1)
    private static let payload = 512

    /// A job; one that goes `upstream` is sent with its acceptance, another one has to be claimed.
    private static func job(to upstream: String?) -> NewJob {
        let id = JobID(
            milliseconds: JobMoment.present.wall,
            random: (8, ids.add(1, ordering: .relaxed).newValue)
        )
        let record = JobRecord(id: id, route: "hooks", method: .post, target: "/hooks/of/a/sender")
        return NewJob(record, body: .bytes([UInt8](repeating: 106, count: payload)), upstream: upstream)
    }

    private struct Cost {
        let statements: Double
        let transactions: Double
        let log: Double
        let images: Double
        /// At most so many of the statements were the node's beat, which goes on beside the jobs.
        let beats: Double
    }

    /// Statements that a node sends each second at most to hear of others, and to look at the rings.
    private static let beatStatements = 20.0

    /// The cost of each of so many lives.
    private static func cost(
        of lives: Int,
        _ title: String,
        _ nodes: Nodes,
        _ store: PostgreSQLJobStore,
        _ body: () async throws -> Void
    ) async throws -> Cost {
        let server = nodes.server
        let before = (try await store.facts().statements, try await offPool { try server.logPosition() })
        let begun = SystemClock.monotonic()
        try await body()
        let seconds = Double(SystemClock.monotonic() - begun) / 1e9
        let after = (try await store.facts().statements, try await offPool { try server.logPosition() })
        let log = try await offPool { try server.logBytes(from: before.1.place, to: after.1.place) }
        let count = Double(lives)
        let cost = Cost(
            statements: Double(after.0 - before.0) / count,
            transactions: Double(after.1.transactions - before.1.transactions) / count,
            log: Double(log.records) / count,
            images: Double(log.images) / count,
            beats: seconds * beatStatements / count
        )
        print("a life, \(title): \(cost)")
        return cost
    }

    private static func settle(_ token: ClaimToken, _ store: PostgreSQLJobStore) async throws {
        #expect(
            try await store.settle([Settlement(token, .succeeded)], at: .present) == [.applied(.succeeded)]
        )
    }

    @Test("One job after the other takes at most three statements each")
    func alone() async throws {
        let nodes = try await Nodes(PostgresServer.make())
        let store = try await nodes.open("one")
        // So many that it does not matter in which part of a beat they begin.
        let lives = 1_000
        for upstream in ["eu", nil] {
            let cost = try await Self.cost(
                of: lives,
                upstream == nil ? "claimed" : "sent at once",
                nodes,
                store
            ) {
                for _ in 0..<lives {
                    switch try await store.enqueue([Self.job(to: upstream)], at: .present)[0] {
                    case .running(let token): try await Self.settle(token, store)
                    case .accepted:
                        let batch = try await store.claim("hooks", limit: 1, upstream: "eu", at: .present)
                        try await Self.settle(try #require(batch.claims.first).token, store)
                    case let other: Issue.record("\(other)")
                    }
                }
            }
            #expect(cost.statements <= 3 + cost.beats)
            #expect(cost.transactions <= 3.1)
            #expect(cost.log <= Double(3 * Self.payload + 2_048))
        }
        await store.close()
    }

    /// Claims what waits, by one claim at a time, and settles each by itself.
    private actor Claimer {
        private let store: PostgreSQLJobStore
        private var isBusy = false
        private(set) var settled = 0

        init(_ store: PostgreSQLJobStore) { self.store = store }

        func work() async throws {
            guard !isBusy else { return }
            isBusy = true
            defer { isBusy = false }
            while true {
                let claims = try await store.claim("hooks", limit: 256, upstream: "eu", at: .present).claims
                guard !claims.isEmpty else { return }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for claim in claims {
                        group.addTask { [store] in try await FiguresTests.settle(claim.token, store) }
                    }
                    try await group.waitForAll()
                }
                settled += claims.count
            }
        }
    }

    @Test("Of many at once a batch takes so many that a job takes a fifth of a statement at most")
    func together() async throws {
        let nodes = try await Nodes(PostgresServer.make())
        let store = try await nodes.open("one")
        let claimer = Claimer(store)
        let (submitters, lives) = (64, 3_200)
        let cost = try await Self.cost(of: lives, "of 64 at once", nodes, store) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for submitter in 0..<submitters {
                    group.addTask {
                        for _ in 0..<lives / submitters {
                            let job = Self.job(to: submitter < submitters / 2 ? "eu" : nil)
                            switch try await store.enqueue([job], at: .present)[0] {
                            case .running(let token): try await Self.settle(token, store)
                            case .accepted: try await claimer.work()
                            case let other: Issue.record("\(other)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await claimer.work()
        }
        #expect(try await store.counters(at: .present, withDue: false).count(.succeeded) == lives)
        let facts = try await store.facts()
        // Acceptance, claim and settlement; those that are sent with their acceptance take no claim.
        #expect((lives * 5 / 2...lives * 3).contains(Int(facts.operations)))
        #expect(facts.commitTimes.count == facts.commits)
        #expect(facts.operations / max(1, facts.commits) >= 8)
        #expect(cost.statements <= 0.2 + cost.beats)
        #expect(cost.log <= Double(3 * Self.payload + 2_048))
        await store.close()
    }
}
