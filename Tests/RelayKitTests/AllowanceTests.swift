import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("How often a job may be sent", .timeLimit(.minutes(5)))
struct AllowanceTests {
    private static let last = RecoveryRule.placeholder(CannedAnswer(status: 203), on: [.exhausted])

    @Test(
        "Attempts left count down to none, and then nothing more is sent, however often a strategy wants to",
        .clauses("G1-11", "G1-13", "G2-19", "T-10", "T-11", "T-12"),
        arguments: [
            (1, nil, 1), (2, nil, 2), (4, nil, 4), (50, 60, 50), (nil, 60, 60),
            // The policy's own bound, which no request raises.
            (nil, nil, 10), (1000, nil, 10),
        ] as [(Int?, Int?, Int)]
    )
    func countdown(ofRequest: Int?, ofPolicy: Int?, count: Int) async throws {
        let seen = Mutex<[[Int]]>([])
        let bench = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                if let ofPolicy { $0.maxAttempts = ofPolicy }
                $0.recovery = [
                    .advice { _, request, context in
                        seen.withLock { $0.append([context.attempt, context.attemptsLeft]) }
                        return .retry(request, after: .zero)
                    }, Self.last,
                ]
            },
            answer: { _ in .answer(503) }
        )
        var request = Request.plain()
        request.options.maxAttempts = ofRequest
        #expect(await bench.run(request).source == .placeholder)
        #expect(seen.withLock { $0 } == (1...count).map { [$0, count - $0] })
        #expect(bench.transport.sent.count == count)
    }

    @Test(
        "A 401 is mended with a new token while an attempt is left to use it, all rules share the attempts",
        .clauses("G1-15", "G2-16", "G2-17", "G2-18", "G2-19", "G2-21", "G3-12", "T-13", "X-12"),
        arguments: [
            ([401, 200], 10, 2, 1), ([401, 200], 1, 1, 0), ([401, 401, 401, 401, 401], 4, 4, 3),
            ([401, 403, 200], 10, 2, 1), ([503, 401, 200], 3, 3, 1), ([503, 401, 200], 2, 2, 0),
        ] as [([UInt16], Int, Int, Int)]
    )
    func tokens(answers: [UInt16], maxAttempts: Int, sends: Int, fetches: Int) async throws {
        let log = Log()
        let bench = try ServiceBench(answers.map { .answer(Status(rawValue: $0)) }) {
            $0.recovery = [
                .again(on: [503]),
                .advice("token") { failure, request, context in
                    guard failure.status == .unauthorized, context.attemptsLeft > 0 else { return .passOn }
                    log.note("fetched")
                    return .retry(request) { $0.fields.set(.authorization, "Bearer fresh") }
                },
            ]
            $0.maxAttempts = maxAttempts
        }
        let outcome = await bench.run()
        let last = answers[sends - 1]
        #expect((outcome.value?.status ?? outcome.failure?.status)?.rawValue == last)
        #expect((outcome.failure == nil) == (last == 200))
        #expect(bench.transport.sent.count == sends && log.lines.count == fetches)
        #expect(bench.sentValues(.authorization).count { $0 == "Bearer fresh" } == fetches)
    }

    /// A strategy that always retries at once, of what is refused unless the test answers otherwise.
    private func refused(
        total: Duration,
        maxAttempts: Int = 2,
        _ answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step = { _ in
            .fail(.connectionRefused, .neverSent)
        }
    ) async throws -> (outcome: PlainOutcome<HTTPResponse>, waits: [Duration], left: [Int]) {
        let left = Mutex<[Int]>([])
        let bench = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.maxAttempts = maxAttempts
                $0.timeouts.total = total
                $0.recovery = [
                    .advice { _, request, context in
                        left.withLock { $0.append(context.attemptsLeft) }
                        return .retry(request, after: .zero)
                    }, Self.last,
                ]
            },
            answer: answer
        )
        let outcome = await bench.run()
        return (outcome, bench.time.waits, left.withLock { $0 })
    }

    @Test(
        "Also what is never sent comes to an end, and the attempts left say so before",
        .clauses("G1-14", "N-10", "X-11")
    )
    func neverSent() async throws {
        let (outcome, _, left) = try await refused(total: .seconds(86_400))
        #expect(outcome.source == .placeholder && outcome.attempts.count == 100)
        #expect(left == Array(repeating: 2, count: 98) + [1, 0])
        #expect(outcome.attempts.last?.heldBack == [HeldBack(rule: "advice", reason: .neverSent(100))])
    }

    @Test(
        "A request that is never sent costs no attempt and so costs time: from the second in a row on ever more",
        .clauses("G1-14")
    )
    func paced() async throws {
        let (outcome, waits, _) = try await refused(total: .seconds(30))
        #expect((7...20).contains(outcome.attempts.count), "\(outcome.attempts.count) attempts in 30 s")
        #expect(waits[0] == .zero)
        var longest: Duration = .milliseconds(100)
        for wait in waits.dropFirst() {
            #expect((longest / 2...longest).contains(wait), "\(waits)")
            longest = min(longest * 2, .seconds(10))
        }
        #expect(outcome.attempts.last?.heldBack.first?.rule == "advice")
    }

    @Test("An attempt that was sent ends the row, and the next retry comes when the strategy says")
    func rowEnds() async throws {
        let count = Mutex(0)
        let (_, waits, _) = try await refused(total: .seconds(30), maxAttempts: 3) { _ in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            return number == 2 ? .answer(503) : .fail(.connectionRefused, .neverSent)
        }
        #expect(waits.prefix(3) == [.zero, .zero, .zero] && waits[3] >= .milliseconds(50))
    }
}
