import RelayCore
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Users take turns at the jobs of a route", .timeLimit(.minutes(5)))
struct TurnTests {
    /// What becomes of the form of jobs before they are claimed.
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
    /// A store of that layout with so many jobs of user 1, and as many of user 2 behind them.
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
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(StoreBench.seventhLayout)
        }
        try await bench.reopen()
        return (bench, ids[0], ids[1])
    }

    private func unowned(_ bench: StoreBench) throws -> Int64 {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        return try database.number("SELECT count(*) FROM job WHERE lane BETWEEN 0 AND 7")
    }

    @Test("Its jobs have one turn together until sweeps, with a start between, have given each user its own")
    func turned() async throws {
        let (bench, first, second) = try await bench(1_200)
        let newest = try await bench.accept { $0.record.submitter = JobRecord.Submitter(user: 3, unit: nil) }
        let claims = try await bench.claim("hooks", 4)
        let early = claims.map(\.token.id)
        for claim in claims { try await bench.settle(claim, .succeeded) }
        #expect(early.contains(newest) && early.filter { first.contains($0) }.count == 3)
        for step in 0..<3 {
            let before = try unowned(bench)
            #expect(try await bench.store.sweep(Retention(), limit: 10, at: bench.now).hasMore)
            #expect(try unowned(bench) < before)
            if step == 1 { try await bench.reopen() }
        }
        while try await bench.store.sweep(Retention(), limit: 10, at: bench.now).hasMore {}
        #expect(try unowned(bench) == 0)
        let later = try await bench.claim("hooks", 10).map(\.token.id)
        #expect(later.filter { second.contains($0) }.count >= 4)
        var rest = 0
        for _ in 0..<3 { rest += try await bench.claim("hooks", 1_000).count }
        #expect(rest == 2_401 - 4 - 10)
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: true)
        #expect(try database.number("SELECT count(*) FROM meta WHERE k = 'unturned'") == 0)
    }

    @Test("Each of its jobs is claimed once also where no sweep comes, whatever is done to others")
    func unturned() async throws {
        let (bench, first, second) = try await bench(20)
        try await bench.apply(.cancel, try #require(first.first))
        try await bench.apply(.hold, try #require(second.first))
        #expect(try await bench.store.claim("hooks", limit: 100, at: bench.now).claims.count == 38)
        #expect(try await bench.store.claim("hooks", limit: 100, at: bench.now).nextDue == nil)
    }
}
