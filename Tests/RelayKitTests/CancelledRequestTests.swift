import RelayKit
import RelayTestSupport
import Testing

@Suite("A caller that gives up", .closedRunQueue, .timeLimit(.minutes(5)))
struct CancelledRequestTests {
    /// A strategy, rules and closures that would all bring a job to a success.
    private struct Eager {
        let log = Log()
        let bench: ServiceBench
        var request = Request.plain()

        init(
            _ steps: [ScriptedTransport.Step],
            mode: VirtualTime.Mode = .jumping,
            first rules: [RecoveryRule] = [],
            preparation: [any PreparationStrategy] = []
        ) throws {
            bench = try ServiceBench(
                steps,
                policy: { [log] in
                    let asked = RecoveryRule.advice("asked", log, on: [.any, .exhausted], methods: .any) {
                        _,
                        request,
                        _ in .retry(request, after: .zero)
                    }
                    $0.recovery = rules + [asked, .again(), .placeholder(CannedAnswer(status: 200))]
                },
                mode: mode,
                preparation: preparation
            )
            request.placeholder = { [log] _ in
                log.note("placeholder")
                return HTTPResponse(status: 200)
            }
        }

        /// The failure of a request whose caller gives up once nothing of it can go on.
        func cancelled() async -> Failure? {
            let job = Task { await bench.run(request) }
            await untilIdle()
            job.cancel()
            let outcome = await job.joined()
            #expect(outcome.value == nil && bench.service.inFlight == 0)
            return outcome.failure
        }
    }

    @Test(
        "While the upstream has the request, or between two attempts, nobody is asked and nothing more is sent",
        .clauses("G3-21", "N-11", "T-86", "T-87", "X-08"),
        arguments: [(ScriptedTransport.Step.hold, Sent.unknown), (.answer(503), .answered)]
    )
    func underWay(step: ScriptedTransport.Step, sent: Sent) async throws {
        let eager = try Eager([step, .answer(200), .answer(200)], mode: .manual, first: [.again(on: [503])])
        let failure = await eager.cancelled()
        #expect(failure?.kind == .cancelled && failure?.sent == sent)
        #expect(eager.log.lines == [] && eager.bench.transport.sent.count == 1)
    }

    @Test("Of two requests that a script holds, the one whose caller gives up ends alone")
    func alone() async throws {
        let bench = try ServiceBench([.hold, .hold, .answer(200)])
        let jobs = [Task { await bench.run(Request.plain()) }, Task { await bench.run(Request.plain()) }]
        await untilIdle()
        jobs[0].cancel()
        #expect(await jobs[0].joined().failure?.kind == .cancelled)
        #expect(bench.transport.heldCount == 1)
        bench.transport.release()
        #expect(await jobs[1].joined().value?.status == 200)
    }

    @Test(
        "While a strategy thinks, it is cancelled too, and what it answers is not done",
        .clauses("G3-21"),
        arguments: ["retry", "pass on", "stop"]
    )
    func inStrategy(answer: String) async throws {
        let log = Log()
        let thinking = RecoveryRule.advice("thinking", log) { _, request, _ in
            await untilCancelled()
            switch answer {
            case "retry": return .retry(request, after: .zero)
            case "stop": return .stop(Failure("own", sent: .answered, "own"))
            default: return .passOn
            }
        }
        let eager = try Eager([.answer(503), .answer(200)], first: [thinking])
        #expect(await eager.cancelled()?.kind == .cancelled)
        #expect(log.lines == ["thinking"] && eager.log.lines == [])
        #expect(eager.bench.transport.sent.count == 1)
    }

    @Test("While a step of preparation runs, nothing is sent", .clauses("N-11"))
    func inPreparation() async throws {
        let step = Prepare(.attempt) { request, _ in
            await untilCancelled()
            return request
        }
        let eager = try Eager([.answer(200)], preparation: [step])
        #expect(await eager.cancelled()?.kind == .cancelled)
        #expect(eager.log.lines == [] && eager.bench.transport.sent.isEmpty)
    }

    @Test("A failed answer that comes with the cancellation is offered to nobody", .clauses("G3-21", "X-08"))
    func atOnce() async throws {
        var eager = try Eager([.answer(503), .answer(200)])
        eager.request.quickRecovery = { _ in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return nil
        }
        let failure = await Task { [eager] in await eager.bench.failure(of: eager.request) }.value
        #expect(failure?.kind == .cancelled && failure?.sent == .answered)
        #expect(eager.log.lines == [] && eager.bench.transport.sent.count == 1)
    }

    @Test(
        "A closure that throws a cancellation error gives up as well",
        arguments: ["validate", "transform", "map"]
    )
    func thrown(from place: String) async throws {
        let eager = try Eager([.answer(200), .answer(200)])
        var request = PlainRequest<HTTPResponse>(HTTPRequest(method: .get, target: "x")) { success in
            if place == "transform" { throw CancellationError() }
            return success.response
        }
        request.placeholder = eager.request.placeholder
        if place == "validate" { request.successValidator = { _ in throw CancellationError() } }
        if place == "map" { request = request.map { _ in throw CancellationError() } }
        #expect(await eager.bench.failure(of: request)?.kind == .cancelled)
        #expect(eager.log.lines == [] && eager.bench.transport.sent.count == 1)
    }

    @Test(
        "A transport that reports a cancellation is believed, though the task goes on, and nothing renames it",
        .clauses("G1-04", "UC-04", "X-08")
    )
    func reported() async throws {
        var eager = try Eager([.fail(.cancelled, .unknown), .answer(200)])
        eager.request.quickRecovery = { [log = eager.log] _ in
            log.note("quick")
            return HTTPResponse(status: 200)
        }
        eager.request.classify = { Failure("renamed", sent: $0.sent, $0.detail) }
        #expect(await eager.bench.failure(of: eager.request)?.kind == .cancelled)
        #expect(eager.log.lines == [] && eager.bench.transport.sent.count == 1)
    }
}
