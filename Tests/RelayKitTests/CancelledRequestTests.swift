import RelayKit
import RelayTestSupport
import Testing

@Suite("A caller that gives up", .runQueue, .timeLimit(.minutes(5)))
struct CancelledRequestTests {
    /// Strategies, rules and closures that would all bring a job to a success.
    private static func eager(_ log: CallLog) -> (inout RoutePolicy) -> Void {
        { policy in
            policy.recovery = [
                .strategy(
                    AdvisingStrategy("asked", log) { _, request, _ in .retry(request, after: .zero) },
                    methods: .any
                ), .again(), .placeholder(CannedAnswer(status: 200)),
            ]
        }
    }

    private static func request(_ log: CallLog) -> Request<HTTPResponse> {
        var request = Request.plain()
        request.placeholder = { _ in
            log.note("placeholder")
            return HTTPResponse(status: 200)
        }
        return request
    }

    @Test(
        "While the upstream has the request, nobody is asked and nothing more is sent",
        .clauses("G3-21", "N-11", "X-08", "T-86", "T-87")
    )
    func inFlight() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.hold, .answer(200)], policy: Self.eager(log))
        let task = Task { await bench.failure(of: Self.request(log)) }
        await untilIdle()
        task.cancel()
        #expect(await task.joined()?.kind == .cancelled)
        #expect(log.lines == [] && bench.transport.sent.count == 1)
    }

    @Test("Between two attempts, the wait ends at once and no attempt follows", .clauses("N-11"))
    func inWait() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(200)],
            policy: { $0.recovery = [.again(), .placeholder(CannedAnswer(status: 200))] },
            mode: .manual
        )
        let task = Task { await bench.failure(of: .plain()) }
        await untilIdle()
        task.cancel()
        #expect(await task.joined()?.kind == .cancelled && bench.transport.sent.count == 1)
    }

    @Test(
        "While a strategy thinks, it is cancelled too, and what it answers is not done",
        .clauses("G3-21"),
        arguments: ["retry", "pass on", "stop"]
    )
    func inStrategy(answer: String) async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(503), .answer(200)]) {
            $0.recovery = [
                .strategy(
                    AdvisingStrategy("thinking", log) { _, request, _ in
                        await untilCancelled()
                        switch answer {
                        case "retry": return .retry(request, after: .zero)
                        case "stop": return .stop(Failure("own", sent: .answered, "own"))
                        default: return .passOn
                        }
                    }
                ),
                .strategy(AdvisingStrategy("next", log)),
            ]
        }
        let task = Task { await bench.failure(of: Self.request(log)) }
        await untilIdle()
        task.cancel()
        #expect(await task.joined()?.kind == .cancelled)
        #expect(log.lines == ["thinking"] && bench.transport.sent.count == 1)
    }

    @Test("While a step of preparation runs, nothing is sent", .clauses("N-11"))
    func inPreparation() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [.answer(200)],
            policy: Self.eager(log),
            preparation: [
                Prepare(.attempt) { request, _ in
                    log.note("preparing")
                    await untilCancelled()
                    return request
                }
            ]
        )
        let task = Task { await bench.failure(of: Self.request(log)) }
        await untilIdle()
        task.cancel()
        #expect(await task.joined()?.kind == .cancelled)
        #expect(log.lines == ["preparing"] && bench.transport.sent.isEmpty)
    }

    @Test("A failed answer that comes with the cancellation is offered to nobody", .clauses("G3-21", "X-08"))
    func atOnce() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(503), .answer(200)], policy: Self.eager(log))
        var request = Self.request(log)
        request.quickRecovery = { _ in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return nil
        }
        let cancelling = request
        let failure = await Task { await bench.failure(of: cancelling) }.value
        #expect(failure?.kind == .cancelled && failure?.sent == .answered)
        #expect(log.lines == [] && bench.transport.sent.count == 1)
    }

    @Test(
        "A closure that throws a cancellation error gives up as well",
        arguments: ["validate", "transform", "map"]
    )
    func thrown(from place: String) async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(200), .answer(200)], policy: Self.eager(log))
        var request = Request<HTTPResponse>(HTTPRequest(method: .get, target: "x")) { success in
            if place == "transform" { throw CancellationError() }
            return success.response
        }
        request.placeholder = Self.request(log).placeholder
        if place == "validate" { request.successValidator = { _ in throw CancellationError() } }
        if place == "map" { request = request.map { _ in throw CancellationError() } }
        #expect(await bench.failure(of: request)?.kind == .cancelled)
        #expect(log.lines == [] && bench.transport.sent.count == 1)
    }

    @Test(
        "A transport that reports a cancellation is believed, though the task goes on",
        .clauses("G1-04", "X-08")
    )
    func reported() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.fail(.cancelled, .unknown), .answer(200)], policy: Self.eager(log))
        var request = Self.request(log)
        request.quickRecovery = { _ in
            log.note("quick")
            return HTTPResponse(status: 200)
        }
        #expect(await bench.failure(of: request)?.kind == .cancelled)
        #expect(log.lines == [] && bench.transport.sent.count == 1)
    }
}
