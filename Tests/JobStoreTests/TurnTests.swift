import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

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
        _ bench: any StoreUnderTest,
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
        if form == .usual { try await bench.rearrange() }
        return owners
    }

    private func claimed(
        _ bench: any StoreUnderTest,
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
        arguments: StoreKind.all,
        Form.allCases
    )
    func flood(kind: StoreKind, form: Form) async throws {
        let bench = try await kind.open()
        let owners = try await accept(bench, [(1, 0, 100), (2, 3, 1), (nil, 7, 2)], form)
        let claims = try await claimed(bench, owners, [1, 4, 1, 95])
        #expect(claims.firstIndex(of: "2/3").map { $0 < 4 } == true, "\(claims.prefix(9))")
        #expect(claims.lastIndex(of: "-/7").map { $0 < 6 } == true, "\(claims.prefix(9))")
        #expect(claims.count == 101)
    }

    @Test(
        "An urgency has twice the turns of the next lower one of its user",
        arguments: StoreKind.all,
        Form.allCases
    )
    func urgencies(kind: StoreKind, form: Form) async throws {
        let bench = try await kind.open()
        let owners = try await accept(bench, [(1, 0, 200), (1, 3, 40), (1, 7, 9)], form)
        let claims = try await claimed(bench, owners, Array(repeating: 5, count: 29))
        let counts = Dictionary(grouping: claims) { $0 }.mapValues(\.count)
        // Of 145 turns as of a caller's requests.
        #expect(counts == ["1/0": 128, "1/3": 16, "1/7": 1])
    }

    @Test(
        "A crash, and a job that is cancelled, leave each user its turn",
        arguments: StoreKind.all(.survives)
    )
    func others(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
        arguments: StoreKind.all
    )
    func later(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let owners = try await accept(bench, [(1, 3, 1), (2, 3, 2)])
        for claim in try await bench.claim() {
            let wait: Duration = owners[claim.token.id] == "1/3" ? .seconds(60) : .seconds(100)
            try await bench.settle(claim, .retry(after: wait, .backoff), kind: "http_status")
        }
        let early = try await bench.store.claim("hooks", limit: 4, at: bench.now)
        #expect(early.claims.isEmpty && bench.isAt(early.nextDue, bench.now.wall + 60_000))
        try await bench.advance(by: 60_000)
        let first = try await bench.store.claim("hooks", limit: 4, at: bench.now)
        #expect(first.claims.compactMap { owners[$0.token.id] } == ["1/3"])
        #expect(bench.isAt(first.nextDue, bench.now.wall + 40_000))
        try await bench.advance(by: 40_000)
        #expect(try await claimed(bench, owners, [9]) == ["2/3", "2/3"])
    }
}
