import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A run goes through the jobs there were, each once", .timeLimit(.minutes(5)))
struct RunTests {
    private func run(_ action: JobAction, _ change: (inout JobFilter) -> Void = { _ in }) -> ActionRun {
        var filter = JobFilter()
        change(&filter)
        return ActionRun(action, filter, by: Principal(1_001, name: "alice"), at: 1_800_000_000_000)
    }

    private func dead(_ bench: StoreBench, _ count: Int, route: String = "hooks") async throws -> [JobID] {
        var ids: [JobID] = []
        for _ in 0..<count { ids.append(try await bench.accept(route)) }
        for claim in try await bench.claim(route) {
            try await bench.settle(claim, .dead(.exhausted), kind: "http_status")
        }
        return ids
    }

    private func begin(_ run: ActionRun, _ bench: StoreBench) async throws -> ActionRun {
        try #require(try await bench.store.begin(run, at: bench.now))
    }

    @Test("All that it was told is there again after a restart", arguments: StoreKind.allCases)
    func lasting(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        var first = run(.retry) { filter in
            filter.ids = [bench.id(), bench.id()]
            filter.route = "hooks – büro"
            filter.states = [.dead, .expired]
            filter.reason = .throttled
            filter.end = .exhausted
            filter.failureKind = "http_status"
            filter.failureStatus = 503
            filter.upstream = "eu"
            filter.label = "order=1"
            filter.user = 4_000_000_000
            (filter.createdFrom, filter.createdBefore) = (-5, 1_800_000_000_000)
            filter.version = .max
            (filter.sparesUncertain, filter.sparesSuperseded) = (true, true)
        }
        // Each page is told which routes are paused.
        for (criterion, usual) in zip(
            Mirror(reflecting: first.filter).children,
            Mirror(reflecting: JobFilter()).children
        )
        where criterion.label != "pausedRoutes" {
            #expect("\(criterion.value)" != "\(usual.value)", "\(criterion.label ?? "") is not tried")
        }
        (first.rate, first.why, first.total) = (ActionRate("90/m"), "it is back", 7)
        first = try await begin(first, bench)
        var second = run(.cancel)
        second.by = nil
        second = try await begin(second, bench)
        #expect((first.number, second.number) == (1, 2) && first.scope.line == bench.now.wall)
        let stopper = Principal(0, name: "root")
        let ended = try #require(
            try await bench.store.end(2, as: .stopped, by: stopper, failure: "no", at: bench.now)
        )
        #expect(ended.state == .stopped && ended.endedBy == stopper && ended.ended == bench.now.wall)
        #expect(try await bench.store.end(3, as: .stopped, by: nil, failure: nil, at: bench.now) == nil)
        for _ in 0..<2 {
            #expect(try await bench.store.runs() == [first, ended])
            try await bench.reopen()
        }
        // One that is over stays as it is.
        #expect(try await bench.store.end(2, as: .failed, by: nil, failure: nil, at: bench.now) == ended)
        #expect(try await bench.store.advance(2, by: RunStep(limit: 9), at: bench.now) == nil)
    }

    @Test("Page by page, across restarts, each job is acted on once", arguments: StoreKind.allCases)
    func pages(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let ids = try await dead(bench, 7)
        let others = try await dead(bench, 2, route: "other")
        var run = try await begin(run(.retry) { ($0.route, $0.states) = ("hooks", [.dead]) }, bench)
        var changed: [JobID] = []
        var steps = 0
        while run.state == .running, steps < 100 {
            steps += 1
            let step = RunStep(limit: 2)
            let advance = try #require(try await bench.store.advance(run.number, by: step, at: bench.now))
            changed += advance.report.changes.map(\.id)
            #expect(
                advance.report.changed <= 2
                    && advance.run.version == run.version + (advance.run.state == .running ? 1 : 2)
            )
            run = advance.run
            // Those that were retried die again; they stand before its cursor.
            for claim in try await bench.claim() {
                try await bench.settle(claim, .dead(.exhausted), kind: "http_status")
            }
            try await bench.reopen()
            #expect(try await bench.store.runs() == [run])
        }
        #expect(changed == ids && run.state == .done && run.count.matched == 7 && run.count.changed == 7)
        for id in others { #expect(try await bench.state(id) == .dead) }
        let actions = try await bench.store.whole(ids[0], WholeJob.Extent(attempts: 0, hasBodies: false))?
            .actions
        #expect(actions?.map(\.by) == [Principal(1_001, name: "alice")] && actions?.first?.isBulk == true)
    }

    @Test(
        "Jobs that come, or come to an end, after it began are not among them",
        arguments: StoreKind.allCases
    )
    func scope(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let before = try await dead(bench, 3)
        let living = try await bench.accept()
        let run = try await begin(run(.retry) { $0.states = [.dead] }, bench)
        bench.advance(10)
        for claim in try await bench.claim() { try await bench.settle(claim, .dead(.exhausted)) }
        #expect(try await bench.state(living) == .dead)
        let later = try await dead(bench, 3)
        var changed: [JobID] = []
        while let advance = try await bench.store.advance(run.number, by: RunStep(limit: 2), at: bench.now) {
            changed += advance.report.changes.map(\.id)
        }
        #expect(changed == before)
        for id in later + [living] { #expect(try await bench.state(id) == .dead) }
        #expect(try await bench.store.runs().map(\.count.matched) == [3])
        // The control: an action without a scope takes them.
        let all = try await bench.apply(.retry, JobFilter(ids: later + [living]))
        #expect(all.changed == 4)
    }

    @Test("A page and the note of how far the run is are on disk together, wherever a crash comes")
    func together() async throws {
        let bench = try await StoreBench(.sqlite)
        let ids = try await dead(bench, 12)
        let run = try await begin(run(.retry) { $0.states = [.dead] }, bench)
        for _ in 0..<4 {
            _ = try await bench.store.advance(run.number, by: RunStep(limit: 2), at: bench.now)
            // The files as a machine would find them that loses its power now.
            let copy = TemporaryFolder()
            for name in ["jobs.db", "jobs.db-wal"] {
                Files.write(copy.path + "/" + name, Files.read(bench.scratch.path + "/" + name))
            }
            let found = try await SQLiteJobStore.open(StoreOptions(directory: copy.path), at: bench.now)
            let (known, living) = (try await found.runs(), try await revived(ids, in: found))
            #expect(known.map(\.count.changed) == [living] && living > 0)
            await found.close()
        }
    }

    private func revived(_ ids: [JobID], in store: any JobStore) async throws -> Int {
        var count = 0
        for id in ids where try await store.job(id)?.state != .dead { count += 1 }
        return count
    }

    @Test(
        "So many go on at once and no more, and the last that are over are known",
        arguments: StoreKind.allCases
    )
    func bounded(kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        for _ in 0..<ActionRun.mostRunning { _ = try await begin(run(.hold), bench) }
        #expect(try await bench.store.begin(run(.hold), at: bench.now) == nil)
        var last: Int64 = 0
        for _ in 0..<ActionRun.mostEnded + 5 {
            last = try #require(try await bench.store.runs().first { $0.state == .running }).number
            _ = try await bench.store.end(last, as: .stopped, by: nil, failure: nil, at: bench.now)
            _ = try await begin(run(.hold), bench)
        }
        let known = try await bench.store.runs()
        #expect(known.filter { $0.state == .running }.count == ActionRun.mostRunning)
        #expect(known.filter { $0.state != .running }.count == ActionRun.mostEnded)
        #expect(known.contains { $0.number == last } && !known.contains { $0.number == 1 })
        #expect(Set(known.map(\.number)).count == known.count)
    }

    @Test("A run whose record is damaged has failed, says so, and does nothing")
    func damaged() async throws {
        let bench = try await StoreBench(.sqlite)
        let id = try await dead(bench, 1)[0]
        var new = run(.drop)
        new.why = "an uncommon reason"
        let run = try await begin(new, bench)
        await bench.store.close()
        let path = bench.scratch.path + "/jobs.db"
        let bytes = Files.read(path)
        let text = Array("uncommon".utf8)
        let place = try #require(
            bytes.indices.dropLast(text.count).first { bytes[$0..<$0 + text.count].elementsEqual(text) }
        )
        Files.write(path, [0x55], at: place)
        try await bench.reopen()
        let found = try #require(try await bench.store.runs().first)
        #expect(found.number == run.number && found.state == .failed)
        #expect(found.failure?.contains("damaged") == true)
        #expect(try await bench.store.advance(run.number, by: RunStep(limit: 9), at: bench.now) == nil)
        #expect(try await bench.state(id) == .dead)
        #expect(try await bench.store.facts().corruptRecords == 1)
    }

    @Test("A store of the eighth layout gets the table, and keeps its jobs")
    func migrated() async throws {
        let bench = try await StoreBench(.sqlite)
        let ids = try await dead(bench, 2)
        await bench.store.close()
        do {
            let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
            try database.execute(StoreBench.eighthLayout)
        }
        try await bench.reopen()
        #expect(try await bench.store.runs().isEmpty)
        let run = try await begin(run(.retry), bench)
        let advance = try await bench.store.advance(run.number, by: RunStep(limit: 9), at: bench.now)
        #expect(advance?.report.changes.map(\.id) == ids && advance?.run.state == .done)
    }
}
