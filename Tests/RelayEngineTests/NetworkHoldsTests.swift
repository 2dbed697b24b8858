import RelayBase
import RelayCore
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite(
    "Jobs and requests that wait for a network that is not constrained",
    .runQueue,
    .timeLimit(.minutes(5))
)
struct NetworkHoldsTests {
    private func bench(
        after earlier: DurableBench? = nil,
        _ use: ConstrainedUse = .wait,
        answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step = { _ in .answer(200) }
    ) -> DurableBench {
        let bench = DurableBench(after: earlier, { $0.constrained = use }, answer: answer)
        bench.constrain(true, tells: false)
        return bench
    }

    private func hold(
        _ bench: DurableBench,
        _ fields: [(String, String)] = [],
        route: String = "hooks"
    ) async throws -> JobID {
        let id = try await bench.submit(fields, route: route)
        #expect(try await bench.job(id, is: .held).reason == .networkConstrained)
        return id
    }

    private static let passing: [StoreError.Code] = [.full, .slow, .stalled, .gone, .unavailable, .unknown]

    @Test("A store that refuses once, or many times, keeps no job held", arguments: passing, [1, 12])
    func refusingStore(code: StoreError.Code, times: Int) async throws {
        let bench = bench()
        try await bench.start()
        let ids = [try await hold(bench), try await hold(bench, route: "other")]
        bench.faults.failActions(Array(repeating: StoreError(code, "not now"), count: times))
        bench.constrain(false)
        for id in ids { try await bench.job(id, is: .held) }
        await bench.eventually { bench.sent.count == 2 }
        for id in ids { try await bench.job(id, is: .succeeded) }
        #expect(await bench.stop())
    }

    @Test("A store that refuses in the middle keeps no job held, and nobody looks after the stop")
    func refusingInTheMiddle() async throws {
        let bench = bench()
        try await bench.start()
        _ = (try await hold(bench), try await hold(bench, route: "other"))
        let slow = StoreError(.slow, "not now")
        bench.faults.failActions([nil, slow])
        bench.reconfigure { $0.constrained = .send }
        await untilIdle()
        #expect(bench.sent.count == 1)
        await bench.eventually { bench.sent.count == 2 }
        bench.reconfigure { $0.constrained = .wait }
        let left = try await hold(bench)
        bench.faults.failActions(Array(repeating: slow, count: 100))
        bench.constrain(false)
        await untilIdle()
        #expect(await bench.stop())
        try await bench.job(left, is: .held)
    }

    @Test("The start lets those go that the configuration has wait no more, whatever the network")
    func start() async throws {
        let first = bench()
        try await first.start()
        let (free, own) = (try await hold(first), try await hold(first, [("Waystation-Constrained", "wait")]))
        #expect(await first.stop())
        let bench = bench(after: first, .send)
        try await bench.start()
        try await bench.job(free, is: .succeeded)
        try await bench.job(own, is: .held)
        #expect(await bench.stop())
    }

    @Test("A reload that meets a run lets its job go, which was put aside by the configuration before")
    func reloadDuringRun() async throws {
        let bench = bench()
        try await bench.start()
        bench.faults.failSettlements([StoreError(.slow, "not now")])
        let id = try await bench.submit()
        await bench.until { bench.faults.settlementsToFail == 0 }
        bench.reconfigure { $0.constrained = .send }
        try await bench.job(id, is: .running)
        bench.faults.failActions([StoreError(.slow, "not now")])
        await bench.eventually { bench.sent == ["/x"] }
        try await bench.job(id, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("A reload touches no job that has to wait all the same, by its route or by its own word")
    func reload() async throws {
        let bench = bench()
        try await bench.start()
        let (free, own) = (try await hold(bench), try await hold(bench, [("Waystation-Constrained", "wait")]))
        let versions = [
            try await bench.job(free, is: .held).version, try await bench.job(own, is: .held).version,
        ]
        for _ in 0..<3 { bench.reconfigure { $0.constrained = .wait } }
        #expect(try await bench.job(free, is: .held).version == versions[0])
        bench.reconfigure { $0.constrained = .send }
        try await bench.job(free, is: .succeeded)
        let job = try await bench.job(own, is: .held)
        #expect(job.version == versions[1] && bench.jobs.blocker(of: job)?.detail.contains("waits") == true)
        bench.constrain(false)
        try await bench.job(own, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test(
        "A reload applies to a request that waits for the network between two attempts",
        arguments: [(.send, 2), (.refuse, 1)] as [(ConstrainedUse, Int)]
    )
    func betweenAttempts(use: ConstrainedUse, sent: Int) async throws {
        let isUp = Flag()
        let bench = bench { _ in
            isUp.isSet ? .answer(200) : .fail(.connectionRefused, .neverSent)
        }
        bench.reconfigure {
            $0.constrained = .wait
            $0.delivery.mode = .sync
        }
        bench.constrain(false)
        try await bench.start()
        let isOver = Flag()
        let asked = Task {
            let outcome = try await bench.answer()
            isOver.set()
            return outcome
        }
        await bench.until { bench.sent.count == 1 }
        bench.constrain(true)
        isUp.set()
        bench.time.advance(by: .seconds(6))
        await bench.until { bench.sent.count == 1 && !isOver.isSet }
        bench.reconfigure {
            $0.constrained = use
            $0.delivery.mode = .sync
        }
        bench.time.advance(by: .seconds(1))
        await bench.until { bench.sent.count == sent }
        await bench.eventually { isOver.isSet || use == .refuse && bench.sent.count > 1 }
        let outcome = try await asked.value
        #expect((outcome.failure == nil) == (use == .send) && bench.sent.count == sent)
        #expect(await bench.stop())
    }
}
