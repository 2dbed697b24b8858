import RelayKit
import RelayTestSupport
import Testing

@Suite("Waits an upstream asks for", .timeLimit(.minutes(5)))
struct RetryAfterWaitTests {
    /// The virtual wall clock begins at 1 800 000 000: Fri, 15 Jan 2027 08:00:00 GMT.
    static let table: [(values: [String], seconds: Int64?)] = [
        (["2"], 2), (["5 "], 5), (["\t5"], 5), (["007"], 7), (["0"], 1), (["5", "5"], 5),
        (["Fri, 15 Jan 2027 08:00:04 GMT"], 4), (["Friday, 15-Jan-27 08:00:04 GMT"], 4),
        (["Fri Jan 15 08:00:04 2027"], 4), (["Fri, 15 Jan 2027 07:59:00 GMT"], 1),
        (["Thu, 01 Jan 1970 00:00:00 GMT"], 1), (["-3"], 1), (["+3"], 1), (["nan"], 1), (["NaN"], 1),
        (["inf"], 1), (["-inf"], 1), (["1e300"], 1), (["1e3"], 1), (["2.5"], 1), (["0x10"], 1), (["5s"], 1),
        ([""], 1), (["  "], 1), (["soon"], 1), (["5, 5"], 1), (["5", "6"], 1), (["5", "x"], 1),
        (["9", "99999999999999999999"], 1),
        (["Fri, 15 Jan 2027 08:00:04"], 1), (["Fri, 32 Jan 2027 08:00:04 GMT"], 1),
        (["\u{B2}"], 1), (["\u{665}"], 1),
        // Cut at the rule's cap.
        (["11"], 10), (["3600"], 10), (["9999999999"], 10), (["999999999999999999"], 10),
        (["99999999999999999999"], 10), ([String(repeating: "9", count: 60_000)], 10),
        (["Fri, 31 Dec 9999 23:59:59 GMT"], 10),
    ]

    private func policy(_ policy: inout RoutePolicy) {
        policy.recovery = [
            .backoff(
                on: [429, 503, .redirection],
                maxAttempts: 2,
                Backoff(schedule: .constant(.seconds(1)), jitter: .none),
                maxRetryAfter: .seconds(10)
            )
        ]
    }

    @Test(
        "A hostile field neither traps nor makes anyone wait for longer than the rule's cap",
        .clauses("N-06", "X-01", "X-02"),
        arguments: table
    )
    func hostile(row: (values: [String], seconds: Int64?)) async throws {
        let bench = try ServiceBench(
            [.answer(503, row.values.map { ("Retry-After", $0) }), .answer(200)],
            policy: policy
        )
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        #expect(outcome.source == .upstream && bench.transport.sent.count == 2)
        #expect(bench.time.waits == row.seconds.map { [.seconds($0)] })
    }

    @Test(
        "The name is read whatever its case, and the field on 429 and 3xx as well",
        .clauses("N-07", "X-05"),
        arguments: ["retry-after", "RETRY-AFTER", "Retry-after", "rEtRy-AfTeR"],
        [429, 503, 307] as [UInt16]
    )
    func names(name: String, status: UInt16) async throws {
        let bench = try ServiceBench(
            [.answer(Status(rawValue: status), [(name, "7")]), .answer(200)],
            policy: policy
        )
        _ = try await bench.service.execute(Request(.get, "x") as Request<HTTPResponse>)
        #expect(bench.time.waits == [.seconds(7)])
    }

    @Test(
        "A request that would have to wait past the deadline fails at once, with the upstream's own answer",
        .clauses("N-08", "UC-16"),
        arguments: [["6"], ["9"], ["1e300"], ["Fri, 31 Dec 9999 23:59:59 GMT"]]
    )
    func deadline(values: [String]) async throws {
        let bench = try ServiceBench([.take(.seconds(4)), .answer(503, values.map { ("Retry-After", $0) })]) {
            policy(&$0)
            $0.timeouts.attempt = .seconds(5)
            $0.timeouts.total = .seconds(values == ["1e300"] ? 5 : 10)
        }
        let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        let failure = outcome.failure
        #expect(failure?.status == 503 && failure?.response?.status == 503)
        #expect(outcome.isPastDeadline && failure?.isPastDeadline == true && outcome.stoppedBy == nil)
        #expect(failure.map { "\($0)" }?.hasSuffix(" (no time was left)") == true)
        #expect(bench.time.waits.isEmpty && bench.transport.sent.count == 1)
        #expect(bench.time.now() == Instant(nanoseconds: 4_000_000_000))
    }

    @Test("A failure is marked as one for want of time only where time was wanting", .clauses("N-08"))
    func mark() async throws {
        for (steps, isMarked) in [
            ([.answer(404)], false), ([.answer(503), .answer(503)], false),
            ([.take(.seconds(30)), .answer(404)], true), ([.take(.seconds(30)), .answer(200)], false),
        ] as [([ScriptedTransport.Step], Bool)] {
            let bench = try ServiceBench(steps, policy: policy)
            let outcome = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
            #expect(outcome.isPastDeadline == isMarked, "\(steps)")
            #expect(outcome.attempts.last?.failure?.isPastDeadline ?? false == isMarked, "\(steps)")
        }
    }

    /// The error that a program makes of a failure.
    private struct Own: FailureInitializable {
        let isPastDeadline: Bool
        init(_ failure: Failure) { isPastDeadline = failure.isPastDeadline }
    }

    /// A service whose upstream asks for a longer wait than there is time.
    private func hurried() throws -> RelayService {
        try ServiceBench([.answer(503, [("Retry-After", "9")])]) {
            policy(&$0)
            $0.timeouts.total = .seconds(5)
            $0.timeouts.attempt = .seconds(5)
        }.service
    }

    @Test(
        "A program that only catches the failure sees the mark too, whatever the request makes of it",
        .clauses("N-08")
    )
    func thrownMark() async throws {
        let request = Request<HTTPResponse>(.get, "x")
        let thrown = await failure(of: request, from: try hurried())
        #expect(thrown?.isPastDeadline == true && thrown?.status == 503)
        let service = try hurried()
        do throws(Own) {
            _ = try await service.execute(request, throwing: Own.self)
            Issue.record("no failure")
        } catch {
            #expect(error.isPastDeadline)
        }
        let renamed = request.throwing { _ in Failure("mine", sent: .answered, "mine") }
        let mapped = await failure(of: renamed, from: try hurried())
        #expect(mapped?.kind == "mine" && mapped?.isPastDeadline == true)
    }

    /// The failure that `execute` throws.
    private func failure(of request: Request<HTTPResponse>, from service: RelayService) async -> Failure? {
        do throws(Failure) {
            _ = try await service.execute(request)
            return nil
        } catch {
            return error
        }
    }

    @Test("A rule may leave the field unread")
    func ignored() async throws {
        let bench = try ServiceBench([.answer(503, [("Retry-After", "7")]), .answer(200)]) {
            $0.recovery = [
                .backoff(Backoff(schedule: .constant(.seconds(1)), jitter: .none), honorsRetryAfter: false)
            ]
        }
        _ = try await bench.service.execute(Request(.get, "x") as Request<HTTPResponse>)
        #expect(bench.time.waits == [.seconds(1)])
    }
}
