import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Users take turns at the jobs of a route", .timeLimit(.minutes(5)))
struct TurnTests {
    /// The form in which jobs are stored before they are claimed.
    enum Form: CaseIterable, Sendable {
        case plain
        case usual
        case mixed
    }

    /// Accepts so many jobs of each, (user, priority, count), in that order; tells whose a job is, such as "1/0".
    private func accept(
        _ bench: StoreBench,
        _ crowd: [(UInt32?, UInt8, Int)],
        _ form: Form = .plain
    ) async throws -> [JobID: String] {
        var owners: [JobID: String] = [:]
        for (user, priority, count) in crowd {
            for index in 0..<count {
                let id = try await bench.accept { job in
                    job.record.priority = priority
                    job.record.submitter = user.map { JobRecord.Submitter(user: $0, unit: nil) }
                    if form == .mixed, index % 2 == 1 { job.record.labels = ["l"] }
                }
                owners[id] = "\(user.map { String($0) } ?? "-")/\(priority)"
            }
        }
        if form == .usual { try await bench.unfold() }
        return owners
    }

    private func claimed(
        _ bench: StoreBench,
        _ owners: [JobID: String],
        _ limits: [Int]
    ) async throws -> [String] {
        var claimed: [String] = []
        for limit in limits {
            claimed += try await bench.claim("hooks", limit).compactMap { owners[$0.token.id] }
        }
        return claimed
    }

    @Test(
        "A flood of the most urgent jobs of one user keeps nobody else's from the next claim",
        arguments: Form.allCases
    )
    func flood(form: Form) async throws {
        for kind in StoreKind.allCases {
            let bench = try await StoreBench(kind)
            let owners = try await accept(bench, [(1, 0, 100), (2, 3, 1), (nil, 7, 2)], form)
            let claims = try await claimed(bench, owners, [1, 4, 1, 95])
            #expect(claims.firstIndex(of: "2/3").map { $0 < 4 } == true, "\(kind) \(claims.prefix(9))")
            #expect(claims.lastIndex(of: "-/7").map { $0 < 6 } == true, "\(kind) \(claims.prefix(9))")
            #expect(claims.count == 101)
        }
    }

    @Test("An urgency has twice the turns of the next lower one of its user", arguments: Form.allCases)
    func urgencies(form: Form) async throws {
        for kind in StoreKind.allCases {
            let bench = try await StoreBench(kind)
            let owners = try await accept(bench, [(1, 0, 200), (1, 3, 40), (1, 7, 9)], form)
            let claims = try await claimed(bench, owners, Array(repeating: 5, count: 29))
            let counts = Dictionary(grouping: claims) { $0 }.mapValues(\.count)
            // Of 145 turns as of a caller's requests.
            #expect(counts == ["1/0": 128, "1/3": 16, "1/7": 1], "\(kind)")
        }
    }

    @Test("A crash, and a job that is cancelled, leave each user its turn", arguments: StoreKind.allCases)
    func others(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        var owners = try await accept(bench, [(1, 0, 30), (2, 3, 3)], .mixed)
        let gone = try #require(owners.first { $0.value == "2/3" }?.key)
        try await bench.apply(.cancel, gone)
        try await bench.reopen()
        owners.merge(try await accept(bench, [(3, 5, 3)])) { $1 }
        let claims = try await claimed(bench, owners, [9])
        let counts = Dictionary(grouping: claims) { $0 }.mapValues(\.count)
        #expect(counts == ["1/0": 4, "2/3": 2, "3/5": 3])
    }

    @Test(
        "A job whose retry is not due takes no turn, and the claim says when it is",
        arguments: StoreKind.allCases
    )
    func later(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let owners = try await accept(bench, [(1, 3, 1), (2, 3, 2)])
        for claim in try await bench.claim() {
            let wait: Duration = owners[claim.token.id] == "1/3" ? .seconds(5) : .seconds(9)
            try await bench.settle(claim, .retry(after: wait, .backoff), kind: "http_status")
        }
        let early = try await bench.store.claim("hooks", limit: 4, at: bench.now)
        #expect(early.claims.isEmpty && early.nextDue == bench.now.wall + 5_000)
        bench.advance(5_000)
        let first = try await bench.store.claim("hooks", limit: 4, at: bench.now)
        #expect(first.claims.compactMap { owners[$0.token.id] } == ["1/3"])
        #expect(first.nextDue == bench.now.wall + 4_000)
        bench.advance(4_000)
        #expect(try await claimed(bench, owners, [9]) == ["2/3", "2/3"])
    }
}

@Suite("A store of the seventh layout", .timeLimit(.minutes(5)))
struct SeventhLayoutTests {
    /// A store with so many jobs of user 0, and as many of user 1 behind them.
    private func bench(_ count: Int) async throws -> (StoreBench, first: Set<JobID>, second: Set<JobID>) {
        let bench = try await StoreBench(.sqlite)
        var ids: [Set<JobID>] = [[], []]
        for user in 0..<2 {
            for _ in 0..<count {
                let id = try await bench.accept {
                    $0.record.submitter = JobRecord.Submitter(user: UInt32(user), unit: nil)
                }
                ids[user].insert(id)
            }
        }
        try await bench.unfold()
        return (bench, ids[0], ids[1])
    }

    private func number(_ bench: StoreBench, _ query: String) throws -> Int64 {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        let select = try database.statement(text: query)
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    @Test("Its jobs are given their turns step by step, however often it is opened meanwhile")
    func turned() async throws {
        let (bench, _, second) = try await bench(1_200)
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(StoreBench.seventhLayout)
        }
        for _ in 0..<3 { try await bench.reopen() }
        var steps = 0
        while try number(bench, "SELECT count(*) FROM meta WHERE k = 'unturned'") > 0, steps < 1_000 {
            // It goes on between what others ask for.
            _ = try await bench.store.settle([], at: bench.now)
            steps += 1
        }
        #expect(try number(bench, "SELECT count(*) FROM job WHERE lane BETWEEN 0 AND 7") == 0)
        let claims = try await bench.claim("hooks", 10).map(\.token.id)
        #expect(claims.filter { second.contains($0) }.count == 5)
        var rest = 0
        for _ in 0..<3 { rest += try await bench.claim("hooks", 1_000).count }
        #expect(rest == 2_400 - 10)
    }

    @Test("Until then they have one turn together beside others, and each is claimed once")
    func unturned() async throws {
        let (bench, first, second) = try await bench(20)
        try await bench.apply(.cancel, try #require(first.first))
        try await bench.apply(.hold, try #require(second.first))
        let newest = try await bench.accept { $0.record.submitter = JobRecord.Submitter(user: 3, unit: nil) }
        let store = try #require(bench.store as? SQLiteJobStore)
        let now = bench.now
        let claims = try await store.write(.other, weight: 1) { writer throws(StoreError) in
            try writer.database.execute("UPDATE job SET lane = lane & 7 WHERE lane > 15")
            writer.usual.removeAll()
            let early = try writer.claim("hooks", limit: 4, upstream: "eu", at: now)
            let rest = try writer.claim("hooks", limit: 100, upstream: "eu", at: now)
            return (early.claims.map(\.token.id), rest.claims.map(\.token.id), rest.nextDue)
        }
        #expect(claims.0.contains(newest) && claims.0.filter { first.contains($0) }.count == 3)
        #expect(claims.1.count == 39 - 4 && Set(claims.0 + claims.1).count == 39)
        #expect(claims.2 == nil)
    }
}
