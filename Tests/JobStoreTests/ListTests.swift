import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store finds jobs", .timeLimit(.minutes(5)))
struct ListTests {
    private func list(
        _ bench: any StoreUnderTest,
        _ filter: JobFilter,
        _ order: ListOrder = .oldestFirst
    ) async throws -> [JobID] {
        try await bench.store.jobs(filter, order: order, limit: 100, after: nil).jobs.map(\.record.id)
    }

    @Test(
        "By route, state, reason, failure, label, time and id, and by all of them",
        arguments: StoreKind.all
    )
    func filters(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        let dead = try await bench.accept("a") { $0.record.labels = ["x=1"] }
        try await bench.settle(try await bench.claim("a")[0], .dead(.exhausted), kind: "dns_error")
        try await bench.advance(by: 100_000)
        let held = try await bench.accept("a")
        try await bench.apply(.hold, held)
        try await bench.advance(by: 100_000)
        let queued = try await bench.accept("b") {
            $0.record.labels = ["x=1", "y=2"]
            $0.record.submitter = JobRecord.Submitter(user: 1_001, unit: nil)
        }
        let running = try await bench.accept("c")
        _ = try await bench.claim("c")
        func expect(_ ids: [JobID], _ change: (inout JobFilter) -> Void, line: Int = #line) async throws {
            var filter = JobFilter()
            change(&filter)
            #expect(try await list(bench, filter) == ids, "line \(line)")
            #expect(try await list(bench, filter, .newestFirst) == ids.reversed(), "line \(line)")
        }
        try await expect([dead, held, queued, running]) { _ in }
        try await expect([dead, held]) { $0.route = "a" }
        try await expect([]) { $0.route = "nowhere" }
        try await expect([dead]) { $0.states = [.dead] }
        try await expect([running]) { $0.states = [.running] }
        try await expect([held, queued]) { $0.states = [.held, .queued] }
        try await expect([held]) { $0.reason = .operatorHold }
        try await expect([dead]) { $0.failureKind = "dns_error" }
        try await expect([dead, queued]) { $0.label = "x=1" }
        try await expect([queued]) {
            $0.label = "x=1"
            $0.route = "b"
        }
        try await expect([]) { $0.label = "x" }
        try await expect([queued]) { $0.user = 1_001 }
        try await expect([]) { $0.user = 0 }
        try await expect([held]) {
            $0.createdFrom = start + 100_000
            $0.createdBefore = start + 200_000
        }
        try await expect([dead, running]) { $0.ids = [running, dead, bench.id()] }
        try await expect([dead]) {
            $0.ids = [running, dead]
            $0.states = [.dead]
        }
    }

    @Test("Unfinished jobs are counted by user", arguments: StoreKind.all)
    func users(kind: StoreKind) async throws {
        let bench = try await kind.open()
        #expect(try await bench.store.unfinishedByUser() == [:])
        for index in 0..<12 {
            let id = try await bench.accept("a") {
                let user: UInt32? = [nil, 1_000, 4_000_000_000][index % 3]
                $0.record.submitter = user.map { JobRecord.Submitter(user: $0, unit: nil) }
            }
            switch index {
            case 0, 7: try await bench.apply(.cancel, id)
            case 1, 5, 6: try await bench.apply(.drop, id)
            case 2: try await bench.apply(.hold, id)
            default: break
            }
        }
        _ = try await bench.claim("a", 1)
        let counts: [UInt32?: Int] = [nil: 2, 1_000: 2, 4_000_000_000: 3]
        #expect(try await bench.store.unfinishedByUser() == counts)
    }

    @Test("A list goes on where it was, whatever is written in between", arguments: StoreKind.all)
    func cursors(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var ids: [JobID] = []
        for _ in 0..<25 { ids.append(try await bench.accept()) }
        for order in [ListOrder.oldestFirst, .newestFirst] {
            var seen: [JobID] = []
            var cursor: JobCursor?
            repeat {
                let page = try await bench.store.jobs(JobFilter(), order: order, limit: 10, after: cursor)
                seen += page.jobs.map(\.record.id)
                cursor = page.next.flatMap { JobCursor(text: $0.text) }
                #expect(page.next == cursor)
                if seen.count == 10 {
                    try await bench.accept()
                    for claim in try await bench.claim("hooks", 3) {
                        try await bench.settle(claim, .succeeded)
                    }
                    try await bench.apply(.drop, seen[0])
                }
            } while cursor != nil
            let expected = order == .oldestFirst ? ids : Array(ids.dropFirst().reversed())
            #expect(seen.filter { expected.contains($0) } == expected)
            #expect(Set(seen).count == seen.count)
        }
    }

    @Test(
        "A cursor beyond all jobs is as good as none, and is not walked from",
        arguments: StoreKind.all
    )
    func farCursors(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept("a")
        for (order, far) in [(ListOrder.newestFirst, Int64.max), (.newestFirst, 1 << 40), (.oldestFirst, 0)] {
            let cursor = JobCursor(position: far)
            let page = try await bench.store.jobs(JobFilter(), order: order, limit: 10, after: cursor)
            #expect(page.jobs.map(\.record.id) == [id] && page.next == nil)
        }
        let past = try await bench.store.jobs(
            JobFilter(),
            order: .oldestFirst,
            limit: 10,
            after: JobCursor(position: .max)
        )
        #expect(past.jobs.isEmpty && past.next == nil)
    }

    @Test(
        "A text that is no cursor is refused",
        arguments: ["", "c", "x1", "c-1", "c1 ", "C1", "czzzzzzzzzzzzzz", "c١"]
    )
    func badCursors(text: String) {
        #expect(JobCursor(text: text) == nil)
    }

    @Test(
        "Every change of a job changes its version, and nothing else does",
        arguments: StoreKind.all(.survives)
    )
    func versions(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var versions = [try await bench.job(id).version]
        func note() async throws { versions.append(try await bench.job(id).version) }
        try await bench.apply(.hold, id)
        try await note()
        try await bench.apply(.release, id)
        try await note()
        let claim = try await bench.claim()[0]
        try await note()
        try await bench.settle(claim, .dead(.exhausted))
        try await note()
        try await bench.apply(.retry, id)
        try await note()
        try await bench.apply(.cancel, id)
        try await note()
        try await bench.apply(.expunge, id)
        try await note()
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
        try await bench.reopen()
        _ = try await bench.store.sweep(Retention(), limit: 10, at: bench.now)
        try await bench.apply(.release, id)
        #expect(try await bench.job(id).version == versions.last)
    }

    @Test("Counts and ages say what is there", arguments: StoreKind.all)
    func counters(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        try await bench.accept("a")
        try await bench.advance(by: 3 * 60_000)
        try await bench.accept("a")
        try await bench.accept("b") { $0.due = .after(.seconds(100_000)) }
        try await bench.settle(try await bench.claim("a", 1)[0], .dead(.exhausted))
        try await bench.advance(by: 3 * 60_000)
        let counters = try await bench.store.counters(at: bench.now, withDue: true)
        func group(_ route: String, _ state: JobState) -> JobCounters.Group {
            .init(route: route, state: state)
        }
        #expect(counters.counts == [group("a", .dead): 1, group("a", .queued): 1, group("b", .scheduled): 1])
        // Three minutes: at least two, less than four.
        #expect(counters.ages[group("a", .queued)]?[2] == 1 && counters.ages[group("a", .dead)] == nil)
        #expect(Set(counters.oldest.keys) == ["a", "b"] && counters.next.isEmpty)
        #expect(counters.oldest.values.allSatisfy { bench.isAt($0, start + 3 * 60_000) })
    }

    @Test(
        "The first of the jobs that are tried again is told of, whatever its priority",
        arguments: StoreKind.all
    )
    func next(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        for (priority, hours) in [(1, 3), (6, 2), (6, 5)] {
            try await bench.accept("a") { $0.record.priority = UInt8(priority) }
            try await bench.settle(
                try await bench.claim("a", 1)[0],
                .retry(after: .seconds(hours * 3_600), .backoff)
            )
        }
        try await bench.accept("b")
        try await bench.advance(by: 60_000)
        let next = try await bench.store.counters(at: bench.now, withDue: true).next
        #expect(next.count == 1 && bench.isAt(next["a"], start + 7_200_000))
    }

    @Test(
        "The job is told of that has been due for longest, and none that waits for a date or was put aside",
        arguments: StoreKind.all
    )
    func due(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let start = bench.now.wall
        func due() async throws -> [String: Int64] {
            try await bench.store.counters(at: bench.now, withDue: true).due
        }
        let held = try await bench.accept("a")
        try await bench.apply(.hold, held)
        try await bench.accept("a") { $0.due = .after(.seconds(600)) }
        try await bench.accept("b")
        try await bench.settle(try await bench.claim("b", 1)[0], .retry(after: .seconds(900), .backoff))
        try await bench.advance(by: 10_000)
        #expect(try await due().isEmpty)
        try await bench.accept("b")
        #expect(try await Set(due().keys) == ["b"])
        #expect(try await bench.isAt(due()["b"], start + 10_000))
        #expect(try await bench.store.counters(at: bench.now, withDue: false).due.isEmpty)
        try await bench.advance(by: 1_000_000)
        #expect(try await Set(due().keys) == ["a", "b"])
        #expect(try await bench.isAt(due()["a"], start + 600_000))
        #expect(try await bench.isAt(due()["b"], start + 10_000))
        try await bench.settle(try await bench.claim("b", 1)[0], .succeeded)
        #expect(try await bench.isAt(due()["b"], start + 900_000))
    }

    @Test(
        "Ages fall into powers of two minutes",
        arguments: [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (511, 9), (512, 10), (99_999, 10), (-5, 0)]
    )
    func buckets(minutes: Int64, bucket: Int) {
        #expect(JobCounters.bucket(ageMinutes: minutes) == bucket)
    }
}
