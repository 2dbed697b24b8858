import RelayKit
import RelayTestSupport
import Testing

@Suite("Spent rules and those below them", .timeLimit(.minutes(5)))
struct SpentRulesTests {
    private static func job(_ between: [RecoveryRule]) async throws -> (PlainOutcome<HTTPResponse>, [String])
    {
        let bench = try ServiceBench([.answer(503), .answer(503), .answer(200)]) {
            $0.recovery = [.again(2, on: [503])] + between + [.failover(to: 1)]
        }
        return (await bench.run(), bench.transport.sent.map(\.upstream.name))
    }

    @Test(
        "A rule that has nothing left leaves the failure exhausted, also below strategies that pass on",
        .clauses("G2-11", "G3-08"),
        arguments: 0...3
    )
    func passed(count: Int) async throws {
        let log = Log()
        let (outcome, upstreams) = try await Self.job((0..<count).map { .advice("\($0)", log) })
        #expect(outcome.value?.status == 200, "\(outcome)")
        #expect(upstreams == ["one", "one", "two"])
        // Asked after both failures: while the backoff acts it stands before them, and they are not.
        #expect(log.lines == (0..<count).map { "\($0)" })
        #expect(outcome.attempts.last { $0.failure != nil }?.rule == "failover")
    }

    @Test("A strategy whose wish is not met leaves the failure exhausted too", .clauses("G2-13"))
    func refused() async throws {
        let wish = RecoveryRule.advice("late") { _, request, _ in .retry(request, after: .seconds(3600)) }
        let bench = try ServiceBench([.answer(500), .answer(200)]) {
            $0.recovery = [wish, .advice("passes"), .failover(to: 1)]
        }
        #expect(await bench.run().value?.status == 200)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one", "two"])
    }

    @Test("Where no rule was spent, a strategy that passes on makes nothing exhausted", .clauses("G3-11"))
    func unspent() async throws {
        let bench = try ServiceBench([.answer(500), .answer(200)]) {
            $0.recovery = [.again(on: [503]), .advice("passes"), .failover(to: 1)]
        }
        #expect(await bench.run().failure?.status == 500 && bench.transport.sent.count == 1)
    }
}
