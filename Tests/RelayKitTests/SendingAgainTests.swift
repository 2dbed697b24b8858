import RelayKit
import RelayTestSupport
import Testing

/// Smokes that the library hands a policy's rules through; the core's tables say how they act.
@Suite("Sending again", .timeLimit(.minutes(5)))
struct SendingAgainTests {
    @Test(
        "A success is sent once, without a wait, and untouched",
        .clauses("UC-07", "UC-11", "T-122", "T-126")
    )
    func success() async throws {
        let bench = try ServiceBench([.answer(201, [("X-A", "b")], "as it is"), .answer(200)]) {
            $0.recovery = [.again(4)]
        }
        let answer = try await bench.service.execute(.plain())
        #expect(answer.status == 201 && answer.text == "as it is" && answer.fields.count == 1)
        #expect(bench.transport.sent.count == 1 && bench.time.waits == [])
    }

    @Test(
        "Three retries are four sends with a wait before each but the first, and the last failure is the caller's",
        .clauses(
            "G1-15",
            "G2-18",
            "G2-20",
            "G3-10",
            "UC-09",
            "UC-10",
            "UC-11",
            "T-120",
            "T-122",
            "T-126",
            "T-127"
        ),
        arguments: [0, 1, 3, 9],
        [false, true]
    )
    func retries(count: Int, isReachable: Bool) async throws {
        let steps = (0..<20).map { number -> ScriptedTransport.Step in
            isReachable
                ? .answer(Status(rawValue: 500 + number)) : .fail(.connectionRefused, .neverSent)
        }
        let bench = try ServiceBench(steps) { $0.recovery = [.again(count + 1)] }
        let outcome = await bench.run()
        #expect(bench.transport.sent.count == count + 1 && outcome.attempts.count == count + 1)
        #expect(outcome.failure?.status?.rawValue == (isReachable ? UInt16(500 + count) : nil))
        #expect(outcome.failure != nil && outcome.value == nil)
        #expect(outcome.attempts[0].beganAt == 1_800_000_000_000)
        #expect(bench.time.waits == Array(repeating: .seconds(1), count: count))
    }

    @Test(
        "A rule's matcher decides what is sent again, not its place before or after a check",
        .clauses("UC-12", "UC-14"),
        arguments: [
            (.fail(.connectionRefused, .neverSent), [true, false, false, false, false]),
            (.answer(503), [false, true, false, false, false]),
            (.answer(200, [], "<"), [false, false, true, false, false]),
            (.answer(404), [false, false, false, true, false]),
            (.fail(.httpResponseTimeout, .unknown), [false, false, false, false, true]),
        ] as [(ScriptedTransport.Step, [Bool])]
    )
    func position(step: ScriptedTransport.Step, repeated: [Bool]) async throws {
        let matchers: [FailureMatcher] = [
            [.connection], [.serverError], [.kind(.decoding)], [.clientError], [.timeout],
        ]
        for (matcher, isRepeated) in zip(matchers, repeated) {
            let bench = try ServiceBench([step, .answer(200, [], #"{"title":"T"}"#)]) {
                $0.recovery = [.again(2, on: matcher)]
            }
            let outcome = await bench.service.outcome(of: Request.book())
            #expect((outcome.value?.title == "T") == isRepeated)
            #expect(bench.transport.sent.count == (isRepeated ? 2 : 1))
        }
    }

    @Test(
        "The time of the whole job beats the count of retries, and running out of it is a failure",
        .clauses("UC-16", "T-121", "X-17"),
        arguments: [true, false]
    )
    func overallTimeout(isOfTheRequest: Bool) async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                if !isOfTheRequest { ($0.timeouts.attempt, $0.timeouts.total) = (.seconds(3), .seconds(3)) }
                $0.recovery = [.again()]
            },
            answer: { _ in .answer(500) }
        )
        var request = Request.plain()
        if isOfTheRequest { request.options.timeout = .seconds(3) }
        let outcome = await bench.run(request)
        // Nothing is waited for before the first, and at 3 it would be too late.
        #expect(outcome.attempts.map { $0.beganAt - 1_800_000_000_000 } == [0, 1_000, 2_000])
        #expect(outcome.failure?.status == 500 && outcome.value == nil)
    }

    @Test("Each wait is drawn anew, also at the largest", .clauses("UC-11", "X-04", "X-17"))
    func jitter() async throws {
        let largest = Backoff(
            schedule: .exponential(base: .seconds(8), multiplier: 9, maximum: .seconds(8)),
            jitter: .full
        )
        let bench = try ServiceBench(
            [],
            policy: {
                $0.timeouts.total = .seconds(600)
                $0.recovery = [.backoff(on: [.any], maxAttempts: 10, largest)]
            },
            answer: { _ in .answer(500) }
        )
        _ = await bench.run()
        #expect(bench.time.waits.count == 9 && Set(bench.time.waits).count == 9)
        #expect(bench.time.waits.allSatisfy { $0 >= .zero && $0 < .seconds(8) })
    }

    @Test(
        "A job of a hundred attempts, each with two jobs of the same kind inside, makes every one of them",
        .clauses("X-11")
    )
    func nested() async throws {
        func bench(_ attempts: Int, _ rule: RecoveryRule) throws -> ServiceBench {
            try ServiceBench(
                [],
                policy: {
                    $0.traffic = .off
                    $0.maxAttempts = attempts
                    $0.recovery = [rule]
                },
                answer: { _ in .answer(503) }
            )
        }
        let backoff = Backoff(schedule: .constant(.zero), jitter: .none)
        let inner = try bench(20, .backoff(maxAttempts: 20, backoff))
        let outer = try bench(
            100,
            .advice { _, request, _ in
                for _ in 0..<2 { _ = await inner.run() }
                return .retry(request, after: .zero)
            }
        )
        #expect(await outer.run().attempts.count == 100 && outer.transport.sent.count == 100)
        #expect(inner.transport.sent.count == 4_000)
    }
}
