import RelayBase
import RelayCore
import RelayEngine
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Breaches of never_fails", .runQueue, .timeLimit(.minutes(5)))
struct BreachTests {
    private func bench(
        _ change: (inout RoutePolicy) -> Void = { _ in },
        answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step = { _ in .answer(500) }
    ) -> EngineBench {
        EngineBench(
            {
                $0.neverFails = true
                $0.recovery = [
                    RecoveryRule(
                        name: "p",
                        on: FailureMatcher([.any]),
                        action: .respond(
                            CannedResponse(source: .placeholder, status: 200, fields: [], body: [])
                        )
                    )
                ]
                change(&$0)
            },
            answer: answer
        )
    }

    private func told(_ bench: EngineBench) -> [FailureKind] {
        bench.sink.events.compactMap {
            if case .ended(let report) = $0, report.isBreach { report.failure?.kind } else { nil }
        }
    }

    @Test("A placeholder breaches no promise never to fail", .clauses("N-14"))
    func placeholder() async throws {
        let bench = bench()
        _ = try await bench.run()
        #expect(
            bench.state.figures[.breaches] == 0 && bench.state.figures.fallbacks == 1 && told(bench) == []
        )
    }

    @Test(
        "A request that could not be prepared breaches it, which is counted and told",
        .clauses("N-14", "UC-03")
    )
    func preparation() async throws {
        let bench = bench { $0.request.wrap = try? JSONPointer(parsing: "/data") }
        for count in 1...3 as ClosedRange<UInt64> {
            _ = try await bench.run(method: .post, body: .bytes(Array("no json".utf8)))
            #expect(bench.state.figures[.breaches] == count && bench.transport.sent.isEmpty)
        }
        #expect(told(bench) == [.preparation, .preparation, .preparation])
        #expect(bench.health.lastFailure?.kind == .preparation)
    }

    @Test("A request for which there was no room is one too")
    func overloaded() async throws {
        let bench = bench(
            {
                $0.concurrency.maxRequests = 1
                $0.concurrency.maxPendingRequests = 0
            },
            answer: { _ in .hold }
        )
        let first = Task { try await bench.run() }
        await untilIdle()
        _ = try await bench.run()
        #expect(bench.state.figures[.breaches] == 1 && told(bench) == [.overloaded])
        first.cancel()
        _ = try await first.value
        #expect(bench.state.figures[.breaches] == 1 && bench.state.figures[.failed] == 1)
        #expect(bench.state.figures[.cancelled] == 1)
    }

    @Test("A caller that wants no fallback has no promise")
    func optOut() async throws {
        let bench = bench()
        var fields = HeaderFields()
        fields.append("Waystation-Fallback", "off")
        _ = try await bench.run(fields: fields)
        #expect(bench.state.figures[.failed] == 1)
        #expect(bench.state.figures[.breaches] == 0 && told(bench) == [])
    }

    @Test("A reload keeps the count")
    func reload() async throws {
        let bench = bench { $0.request.wrap = try? JSONPointer(parsing: "/data") }
        _ = try await bench.run(method: .post, body: .bytes([0x7B]))
        bench.engine.install(EngineBench.snapshot(previous: bench.engine.snapshot))
        #expect(bench.state.figures[.breaches] == 1)
    }
}
