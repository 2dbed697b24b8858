import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("Kept jobs of a route that is closed as planned", .runQueue, .timeLimit(.minutes(5)))
struct ClosedJobsTests {
    /// The day on which virtual time begins is closed, of which sixteen hours are left.
    private static let today = ClosedTimes([
        .init(days: .dates([1_800_000_000 / 86_400]), from: 0, to: 86_400, zone: .utc)
    ])
    private static let end: Int64 = 1_800_057_600_000

    /// The events of that kind about one route; the bench has another.
    private func told(_ kind: EventKind, _ bench: DurableBench) -> Int {
        bench.feed(kind).count { $0.route == "hooks" }
    }

    private func bench() -> DurableBench {
        DurableBench({ $0.closed = Self.today }, answer: { _ in .answer(200) })
    }

    @Test("They wait until the window is over, have lost no attempt and go on by themselves")
    func wait() async throws {
        let bench = bench()
        try await bench.start()
        let id = try await bench.submit()
        let job = try await bench.job(id, is: .queued)
        let blocker = try #require(bench.jobs.blocker(of: job))
        #expect(blocker.reason == "route_closed" && blocker.until == Self.end)
        #expect(blocker.detail == "the route is closed, as planned (closed)")
        await bench.eventually { told(.routeClosed, bench) == 1 }
        bench.time.advance(by: .seconds(57_599))
        await untilIdle()
        #expect(bench.sent.isEmpty)
        bench.time.advance(by: .seconds(1))
        #expect(try await bench.job(id, is: .succeeded).attempts == 1)
        await bench.eventually { told(.routeOpened, bench) == 1 }
        #expect(told(.routeClosed, bench) == 1)
        #expect(await bench.stop())
    }

    @Test("A reload that takes the window away lets them go at once")
    func reload() async throws {
        let bench = bench()
        try await bench.start()
        let id = try await bench.submit()
        try await bench.job(id, is: .queued)
        bench.reconfigure { $0.closed = nil }
        try await bench.job(id, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("A clock that is set to the end of the window lets them go")
    func step() async throws {
        let bench = bench()
        try await bench.start()
        let id = try await bench.submit()
        await bench.eventually { told(.routeClosed, bench) == 1 }
        bench.time.stepWall(by: 57_600_000)
        bench.jobs.stir()
        await bench.eventually { told(.routeOpened, bench) == 1 }
        try await bench.job(id, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("A job that waits for another attempt is due when the route opens")
    func retry() async throws {
        let bench = DurableBench(answer: { _ in .answer(503) })
        try await bench.start()
        let id = try await bench.submit()
        try await bench.until { try await bench.store.job(id)?.attempts == 1 }
        bench.reconfigure { $0.closed = Self.today }
        let job = try #require(try await bench.store.job(id))
        let blocker = bench.jobs.blocker(of: job)
        #expect(blocker?.reason == "route_closed" && blocker?.until == Self.end)
        bench.time.advance(by: .seconds(3_600))
        await untilIdle()
        #expect(bench.sent.count == 1)
        bench.time.advance(by: .seconds(54_000))
        try await bench.until { try await bench.store.job(id)?.attempts == 2 }
        #expect(await bench.stop())
    }

    @Test("A job that has sent something when a window begins goes on once a reload takes that window away")
    func underWay() async throws {
        let change: @Sendable (inout RoutePolicy) -> Void = {
            $0.upstreams.append(Upstream(name: "two", origin: .unix(path: "/two"), use: .failoverOnly))
            $0.timeouts.attempt = .seconds(120)
            $0.recovery.insert(
                RecoveryRule(name: "other", on: FailureMatcher([.any]), action: .failover(upstream: 1)),
                at: 0
            )
        }
        let played = Atomic<Int>(0)
        let bench = DurableBench(
            {
                change(&$0)
                $0.closed = ClosedTimes([
                    .init(days: .dates([1_800_000_000 / 86_400]), from: 28_860, to: 86_400, zone: .utc)
                ])
            },
            answer: { _ in
                switch played.add(1, ordering: .relaxed).oldValue {
                case 0: .take(.seconds(61))
                case 1: .answer(503)
                default: .answer(200)
                }
            }
        )
        try await bench.start()
        let id = try await bench.submit()
        try await bench.until { try await bench.store.job(id)?.attempts == 1 }
        try await bench.job(id, is: .retrying)
        bench.reconfigure(change)
        bench.time.advance(by: .seconds(1))
        #expect(try await bench.job(id, is: .succeeded).attempts == 2)
        #expect(await bench.stop())
    }

    @Test("Those without a reason of their own are found by it, and by no pause")
    func found() async throws {
        let bench = bench()
        try await bench.start()
        let id = try await bench.submit()
        let job = try await bench.job(id, is: .queued)
        for reason in [WaitReason.routeClosed, .routePaused] {
            var filter = JobFilter()
            filter.reason = reason
            filter.pausedRoutes = bench.jobs.pauses.routes(of: reason)
            #expect(filter.matches(job) == (reason == .routeClosed))
        }
        #expect(bench.jobs.waiting(bench.jobs.watch.counters, of: "hooks")["route_closed"] ?? 0 <= 1)
        #expect(await bench.stop())
    }
}
