import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A run goes through the jobs there were, each once", .timeLimit(.minutes(5)))
struct RunTests {
    private func run(_ action: JobAction, _ change: (inout JobFilter) -> Void = { _ in }) -> ActionRun {
        var filter = JobFilter()
        change(&filter)
        return ActionRun(action, filter, by: Principal(1_001, name: "alice"), at: 1_800_000_000_000)
    }

    private func dead(
        _ bench: any StoreUnderTest,
        _ count: Int,
        route: String = "hooks"
    ) async throws -> [JobID] {
        var ids: [JobID] = []
        for _ in 0..<count { ids.append(try await bench.accept(route)) }
        for claim in try await bench.claim(route) {
            try await bench.settle(claim, .dead(.exhausted), kind: "http_status")
        }
        return ids
    }

    private func begin(_ run: ActionRun, _ bench: any StoreUnderTest) async throws -> ActionRun {
        try #require(try await bench.store.begin(run, at: bench.now))
    }

    @Test("All that it was told is there again after a restart", arguments: StoreKind.all(.survives))
    func lasting(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
            filter.node = NodeName("west")
            filter.holder = "east"
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
        #expect((first.number, second.number) == (1, 2))
        #expect(bench.isAt(first.scope.line, bench.now.wall))
        let stopper = Principal(0, name: "root")
        let ended = try #require(
            try await bench.store.end(2, as: .stopped, by: stopper, failure: "no", at: bench.now)
        )
        #expect(
            ended.state == .stopped && ended.endedBy == stopper && bench.isAt(ended.ended, bench.now.wall)
        )
        #expect(try await bench.store.end(3, as: .stopped, by: nil, failure: nil, at: bench.now) == nil)
        for _ in 0..<2 {
            #expect(try await bench.store.runs() == [first, ended])
            try await bench.reopen()
        }
        // One that is over stays as it is.
        #expect(try await bench.store.end(2, as: .failed, by: nil, failure: nil, at: bench.now) == ended)
        #expect(try await bench.store.advance(2, by: RunStep(limit: 9), at: bench.now) == nil)
    }

    @Test("Page by page, across restarts, each job is acted on once", arguments: StoreKind.all(.survives))
    func pages(kind: StoreKind) async throws {
        let bench = try await kind.open()
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
        arguments: StoreKind.all
    )
    func scope(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let before = try await dead(bench, 3)
        let living = try await bench.accept()
        let run = try await begin(run(.retry) { $0.states = [.dead] }, bench)
        try await bench.advance(by: 10)
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

    @Test(
        "So many go on at once and no more, and the last that are over are known",
        arguments: StoreKind.all
    )
    func bounded(kind: StoreKind) async throws {
        let bench = try await kind.open()
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

    @Test(
        "A page spaces what it retries, knows what a paused route holds, and a rate says when the next one may come",
        arguments: StoreKind.all
    )
    func steps(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let ids = try await dead(bench, 3)
        var new = run(.retry) { $0.states = [.dead] }
        new.rate = ActionRate("60/m")
        let began = try await begin(new, bench)
        var step = RunStep(limit: 2, spacing: JobSpacing(first: .seconds(10), interval: .seconds(20)))
        let first = try #require(try await bench.store.advance(began.number, by: step, at: bench.now))
        #expect(first.report.changes.map(\.id) == Array(ids.prefix(2)) && first.run.state == .running)
        #expect(bench.isAt(first.run.next, bench.now.wall + 2_000))
        for (id, wait) in zip(ids, [10_000, 30_000] as [Int64]) {
            #expect(try await bench.isAt(bench.job(id).runAt, bench.now.wall + wait))
        }
        let stopped = try #require(
            try await bench.store.end(began.number, as: .stopped, by: nil, failure: nil, at: bench.now)
        )
        #expect(stopped.state == .stopped && stopped.count.changed == 2)
        #expect(try await bench.store.advance(began.number, by: step, at: bench.now) == nil)
        let waiting = try await bench.accept("paused")
        try await bench.accept("going")
        let hold = try await begin(run(.hold) { $0.reason = .routePaused }, bench)
        step.pausedRoutes = ["paused"]
        let held = try #require(try await bench.store.advance(hold.number, by: step, at: bench.now))
        #expect(held.report.changes.map(\.id) == [waiting] && held.report.matched == 1)
        #expect(try await bench.state(waiting) == .held)
    }
}
