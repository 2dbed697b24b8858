import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("An upstream's word that sending again is of no use", .timeLimit(.minutes(1)))
struct StopSignalTests {
    private func route(_ change: @escaping (inout RoutePolicy) -> Void = { _ in }) -> Route {
        makeRoute {
            $0.traffic = TrafficSettings()
            $0.traffic.breaker.consecutiveFailures = 1
            $0.traffic.budget.isEnabled = false
            $0.errorTypes = [
                ErrorTypeRule(
                    on: nil,
                    apiCodes: [],
                    header: HeaderCheck(FieldName("X-Should-Retry") ?? .host, value: "false"),
                    kind: "stopped",
                    treatAsStatus: nil,
                    isRetryable: false
                ),
                ErrorTypeRule(
                    on: FailureMatcher([.status(501)]),
                    apiCodes: [],
                    kind: "stopped",
                    treatAsStatus: nil
                ),
            ]
            $0.recovery = [rule("stop", ["stopped"], .deadLetter), rule("again", ["any"], retry(5))]
            change(&$0)
        }
    }

    private static let stop = ScriptedTransport.Step.answer(
        503,
        [("X-Should-Retry", "False"), ("Retry-After", "30")]
    )

    @Test("ends a request at once with the answer that says so, and a kept job as a dead letter")
    func ends() async {
        let bench = Bench([Self.stop, Self.stop])
        let outcome = await bench.perform(on: route())
        #expect(outcome.failure?.kind == "stopped" && outcome.answer?.status == 503)
        #expect(outcome.attempts.count == 1 && outcome.attempts[0].next == .deadLetter)
        let runs = await bench.deliverToTheEnd(on: route())
        #expect(runs.map(\.words) == ["dead rejected"])
    }

    @Test("is no trouble of the upstream's: not for its breaker, its window or its patience")
    func health() async {
        for (step, isTrouble) in [
            (Self.stop, false), (.answer(503, [("Retry-After", "30")]), true), (.answer(502), true),
        ] {
            let bench = Bench([step, .answer(200)])
            let route = route { $0.recovery = [rule("fail", ["any"], .fail)] }
            let memory = RouteMemory()
            _ = await bench.perform(on: route, memory: memory)
            let standing = memory.traffic.standing(of: route, bench.time.now())
            let upstream = standing.upstreams[0]
            #expect((upstream.breaker != .closed || !upstream.holds.isEmpty) == isTrouble)
        }
    }

    @Test(
        "is heard by its header, whatever its status, and by no other value of it",
        arguments: [
            ([("X-Should-Retry", "false")], 1), ([("x-should-retry", "FALSE")], 1),
            ([("X-Should-Retry", "true")], 5),
            ([], 5), ([("X-Should-Retry", "true"), ("X-Should-Retry", "false")], 1),
        ] as [([(String, String)], Int)]
    )
    func header(fields: [(String, String)], attempts: Int) async {
        let bench = Bench(Array(repeating: .answer(500, fields), count: 5))
        let outcome = await bench.perform(on: route { $0.traffic = .off })
        #expect(outcome.attempts.count == attempts)
    }

    @Test("begins no cooldown", arguments: [(true, 2), (false, 1)])
    func cooldown(isStop: Bool, attempts: Int) async {
        let bench = Bench([.answer(500), isStop ? Self.stop : .answer(503), .answer(500), .answer(200)])
        let memory = RouteMemory()
        let route = route {
            $0.traffic = .off
            let origin = $0.upstreams[1].origin
            $0.upstreams[1] = Upstream(
                name: "two",
                origin: origin,
                use: .failoverOnly,
                cooldown: .seconds(60)
            )
            $0.recovery = [rule("other", ["any"], .failover(upstream: 1))]
        }
        _ = await bench.perform(on: route, memory: memory)
        let second = await bench.perform(on: route, memory: memory)
        #expect(second.attempts.count == attempts)
    }

    @Test("keeps retry rules away without a rule of its own")
    func retryable() async {
        let bench = Bench([Self.stop])
        let outcome = await bench.perform(on: route { $0.recovery.removeFirst() })
        #expect(outcome.attempts.count == 1 && outcome.attempts[0].heldBack.map(\.reason) == [.notRetryable])
    }
}
