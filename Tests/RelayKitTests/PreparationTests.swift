import RelayKit
import RelayTestSupport
import Testing

@Suite("Preparing what is sent", .timeLimit(.minutes(5)))
struct PreparationTests {
    private let step: FieldName

    init() throws { step = try #require(FieldName("x-step")) }

    /// Adds to whatever stands in the field: what accumulates would show.
    private static func adding(
        _ phase: PreparationPhase = .attempt,
        _ text: @escaping @Sendable (PreparationContext) -> String
    ) -> Prepare {
        .changing(phase) { request, context in
            let before = FieldName("x-step").flatMap { request.fields[$0] } ?? ""
            request.fields.set("X-Step", before + text(context))
        }
    }

    @Test(
        "Steps run in order, the service's before the request's own; later ones win, and the program's request stays",
        .clauses("G3-20", "T-20", "T-22")
    )
    func order() async throws {
        let bench = try ServiceBench(
            [.answer(200)],
            preparation: [Self.adding { _ in "a" }, Self.adding { _ in "b" }]
        )
        var request = Request.plain()
        request.preparation = [
            Self.adding { _ in "c" },
            Prepare.changing { request, _ in
                let before = FieldName("x-step").flatMap { request.fields[$0] } ?? ""
                request.fields.set("X-Step", "last after \(before)")
            },
        ]
        _ = try await bench.service.execute(request)
        #expect(bench.sentValues(step) == ["last after abc"] && request.http.fields.isEmpty)
    }

    @Test(
        "A step of the job runs once, a step of the attempt each time from the unprepared request, as a strategy left it",
        .clauses("G3-20", "N-16", "X-10")
    )
    func phases() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(404), .answer(200)],
            policy: {
                $0.recovery = [
                    .again(on: [503]),
                    .advice { _, request, context in .retry(request) { $0.target = "x\(context.attempt)" } },
                ]
            },
            preparation: [
                Prepare.changing(.job) { request, context in
                    request.fields.set(.idempotencyKey, context.job)
                    request.fields.set("X-Step", "job \(context.attempt)")
                },
                Self.adding { ", \($0.route) \($0.attempt)" },
            ]
        )
        let outcome = await bench.run()
        #expect(bench.sentValues(.idempotencyKey) == Array(repeating: outcome.id, count: 3))
        #expect(bench.sentValues(step) == ["job 1, test 1", "job 1, test 2", "job 1, test 3"])
        #expect(bench.transport.sent.map(\.target) == ["/v1/x", "/v1/x", "/v1/x2"])
    }

    @Test(
        "A step that throws ends the job with its error before anything more is sent, and nobody is asked",
        .clauses("G3-20", "T-21"),
        arguments: [(PreparationPhase.job, 1), (.attempt, 1), (.attempt, 2)]
    )
    func throwing(phase: PreparationPhase, attempt: Int) async throws {
        let log = Log()
        let bench = try ServiceBench(
            [.answer(503), .answer(200)],
            policy: { $0.recovery = [.again(on: [503]), .advice("asked", log)] },
            preparation: [
                Prepare(phase) { request, context in
                    if context.attempt == attempt { throw Problem(code: "no pen") }
                    return request
                },
                Prepare.changing(phase) { _, context in if context.attempt == attempt { log.note("went on") }
                },
            ]
        )
        var request = Request.plain()
        request.quickRecovery = { failure in
            if failure.status == nil { log.note("quick") }
            return nil
        }
        let failure = try #require(await bench.failure(of: request))
        #expect(failure.kind == .preparation && failure.underlying as? Problem == Problem(code: "no pen"))
        #expect(failure.sent == (attempt == 1 ? .neverSent : .answered))
        #expect(bench.transport.sent.count == attempt - 1 && log.lines == [])
    }

    @Test("A request's own step may replace all that is sent", .clauses("T-48"))
    func custom() async throws {
        let bench = try ServiceBench([.answer(200)])
        var request = Request.plain()
        request.preparation = [
            Prepare(.job) { _, _ in
                HTTPRequest(method: .put, target: "other?a=1", body: .bytes(Array("all new".utf8)))
            }
        ]
        _ = try await bench.service.execute(request)
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .put && sent.target == "/v1/other?a=1" && sent.text == "all new")
    }
}
