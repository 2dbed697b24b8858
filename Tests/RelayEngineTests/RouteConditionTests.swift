import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("How a route is doing", .runQueue, .timeLimit(.minutes(5)))
struct RouteConditionTests {
    /// The upstream answers with the status that is the target.
    private func bench(_ change: (inout RoutePolicy) -> Void = { _ in }) -> EngineBench {
        EngineBench(change) { request in
            let status = request.target.split(separator: "/").last.flatMap { UInt16($0) }
            return status.map { .answer(Status(rawValue: $0)) } ?? .hold
        }
    }

    private func standIn(_ policy: inout RoutePolicy) {
        policy.recovery = [
            RecoveryRule(
                name: "p",
                on: FailureMatcher([.status(503)]),
                action: .respond(CannedResponse(source: .placeholder, status: 200, fields: [], body: []))
            )
        ]
    }

    @Test(
        "It is told by how the latest requests ended, and their row of failures ends with a success",
        arguments: [
            ([], .ok, 0), (["200"], .ok, 0), (["500"], .failing, 1), (["200", "500", "500"], .failing, 2),
            (["500", "200"], .failing, 0), (["503"], .degraded, 1), (["500", "503"], .failing, 2),
            (["503", "503", "500"], .degraded, 3), (["503", "200"], .degraded, 0), (["404"], .ok, 0),
            (["302"], .ok, 0), (["500", "404"], .failing, 0), (["200", "200", "404", "500"], .degraded, 1),
        ] as [([String], RouteCondition, UInt64)]
    )
    func condition(answers: [String], condition: RouteCondition, streak: UInt64) async throws {
        let bench = bench(standIn)
        for answer in answers { _ = try await bench.run(answer) }
        #expect(bench.health.condition(pending: 0) == condition)
        #expect(bench.health.consecutiveFailures == streak)
    }

    @Test("One that waits for places is busy unless it is worse")
    func busy() async throws {
        let bench = bench()
        #expect(bench.health.condition(pending: 1) == .busy)
        _ = try await bench.run("500")
        #expect(bench.health.condition(pending: 1) == .failing)
    }

    @Test("A caller who hangs up is counted apart and changes nothing else")
    func hungUp() async throws {
        let bench = bench()
        let job = Task { try await bench.run("hold") }
        await untilIdle()
        job.cancel()
        _ = try await job.value
        let figures = bench.state.figures
        #expect(figures[.cancelled] == 1 && figures[.failed] == 0 && bench.health.lastFailure == nil)
        #expect(bench.health.condition(pending: 0) == .ok)
    }

    @Test("A request for which there was no room has failed and says nothing of the upstream")
    func overloaded() async throws {
        let bench = bench {
            $0.concurrency.maxRequests = 1
            $0.concurrency.maxPendingRequests = 0
        }
        let job = Task { try await bench.run("hold") }
        await untilIdle()
        _ = try await bench.run("200")
        let figures = bench.state.figures
        #expect(figures[.failed] == 1 && bench.health.lastFailure?.kind == .overloaded)
        #expect(bench.health.condition(pending: 0) == .ok)
        job.cancel()
        _ = try await job.value
    }

    @Test(
        "A kept job that waits after a failure tells that the upstream fails, until one is delivered and a minute is over"
    )
    func putOff() async throws {
        let isDown = Atomic<Bool>(true)
        let bench = DurableBench { _ in isDown.load(ordering: .relaxed) ? .answer(503) : .answer(200) }
        try await bench.start()
        let id = try await bench.submit()
        try await bench.job(id, is: .retrying)
        let state = try #require(bench.engine.snapshot.routes["hooks"]?.state)
        await bench.until { state.health(at: bench.time.wallMilliseconds()).lastFailure?.kind == .httpStatus }
        #expect(state.health(at: bench.time.wallMilliseconds()).condition(pending: 0) == .failing)
        #expect(
            state.figures.requests == 0
                && state.health(at: bench.time.wallMilliseconds()).consecutiveFailures == 0
        )
        isDown.store(false, ordering: .relaxed)
        bench.time.advance(by: .seconds(5))
        try await bench.job(id, is: .succeeded)
        await bench.until { state.figures[.succeeded] == 1 }
        #expect(state.health(at: bench.time.wallMilliseconds()).condition(pending: 0) == .failing)
        bench.time.advance(by: .seconds(60))
        #expect(state.health(at: bench.time.wallMilliseconds()).condition(pending: 0) == .ok)
        #expect(await bench.stop())
    }
}
