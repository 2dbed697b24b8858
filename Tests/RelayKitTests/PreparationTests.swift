import RelayKit
import RelayTestSupport
import Testing

@Suite("Preparing what is sent", .timeLimit(.minutes(5)))
struct PreparationTests {
    private let step: FieldName

    init() throws { step = try #require(FieldName("x-step")) }

    /// Adds to whatever stands in the field: what accumulates would show.
    private static func adding(_ text: String, _ phase: PreparationPhase = .attempt) -> Prepare {
        Prepare(phase) { request, _ in
            var request = request
            let before = FieldName("x-step").flatMap { request.fields[$0] } ?? ""
            request.fields.set("X-Step", before + text)
            return request
        }
    }

    @Test("A step adds a field to what is sent; the program's request stays as it was", .clauses("T-20"))
    func original() async throws {
        let bench = try ServiceBench([.answer(200)], preparation: [Self.adding("p")])
        let request = Request.plain()
        #expect(try await bench.service.execute(request).status == 200)
        #expect(bench.sentValues(step) == ["p"])
        #expect(request.http.fields.isEmpty)
    }

    @Test(
        "Steps run in order, the service's before the request's own; later ones win",
        .clauses("G3-20", "T-22")
    )
    func order() async throws {
        let bench = try ServiceBench([.answer(200)], preparation: [Self.adding("a"), Self.adding("b")])
        var request = Request.plain()
        request.preparation = [
            Self.adding("c"),
            Prepare(.attempt) { request, _ in
                var request = request
                let before = FieldName("x-step").flatMap { request.fields[$0] } ?? ""
                request.fields.set("X-Step", "last after \(before)")
                return request
            },
        ]
        _ = try await bench.service.execute(request)
        #expect(bench.sentValues(step) == ["last after abc"])
    }

    @Test(
        "Every retry is prepared from the unprepared request: nothing accumulates",
        .clauses("G3-20", "X-10")
    )
    func fresh() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(503), .answer(200)],
            policy: { $0.recovery = [.again()] },
            preparation: [Self.adding("p")]
        )
        _ = try await bench.service.execute(.plain())
        #expect(bench.sentValues(step) == ["p", "p", "p"])
    }

    @Test("So is a retry whose request a strategy changed", .clauses("G3-20", "X-10"))
    func freshAfterStrategy() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(503), .answer(200)],
            policy: {
                $0.recovery = [
                    .strategy(
                        AdvisingStrategy("s") { _, request, context in
                            var request = request
                            request.target = "x\(context.attempt)"
                            return .retry(request, after: .zero)
                        }
                    )
                ]
            },
            preparation: [Self.adding("p")]
        )
        _ = try await bench.service.execute(.plain())
        #expect(bench.sentValues(step) == ["p", "p", "p"])
        #expect(bench.transport.sent.map(\.target) == ["/v1/x", "/v1/x1", "/v1/x2"])
    }

    @Test("A step of the job runs once, a step of the attempt each time", .clauses("G3-20", "N-16"))
    func phases() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(503), .answer(200)],
            policy: { $0.recovery = [.again()] },
            preparation: [
                Prepare(.job) { request, context in
                    var request = request
                    request.fields.set(.idempotencyKey, context.job)
                    request.fields.set("X-Step", "job \(context.attempt)")
                    return request
                },
                Prepare(.attempt) { request, context in
                    var request = request
                    let before = FieldName("x-step").flatMap { request.fields[$0] } ?? ""
                    request.fields.set("X-Step", "\(before), \(context.route) \(context.attempt)")
                    return request
                },
            ]
        )
        let outcome = await bench.service.outcome(of: .plain())
        #expect(bench.sentValues(.idempotencyKey) == Array(repeating: outcome.id, count: 3))
        #expect(bench.sentValues(step) == ["job 1, test 1", "job 1, test 2", "job 1, test 3"])
    }

    @Test(
        "A step that throws ends the job with its error before anything is sent, and nobody is asked",
        .clauses("G3-20", "T-21"),
        arguments: [PreparationPhase.job, .attempt]
    )
    func throwing(phase: PreparationPhase) async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [.answer(200)],
            policy: { $0.recovery = [.strategy(AdvisingStrategy("asked", log)), .again()] },
            preparation: [
                Prepare(phase) { _, _ in throw RecipeProblem(code: "no pen") },
                Prepare(phase) { request, _ in
                    log.note("went on")
                    return request
                },
            ]
        )
        var request = Request.plain()
        request.quickRecovery = { _ in
            log.note("quick")
            return HTTPResponse(status: 200)
        }
        let failure = try #require(await bench.failure(of: request))
        #expect(failure.kind == .preparation && failure.sent == .neverSent)
        #expect(failure.underlying as? RecipeProblem == RecipeProblem(code: "no pen"))
        #expect(bench.transport.sent.isEmpty && log.lines == [])
    }

    @Test("A step that throws before a retry ends the job there", .clauses("G3-20", "T-21"))
    func throwingLater() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(200)],
            policy: { $0.recovery = [.again()] },
            preparation: [
                Prepare(.attempt) { request, context in
                    if context.attempt == 2 { throw RecipeProblem(code: "no pen") }
                    return request
                }
            ]
        )
        #expect(await bench.failure(of: .plain())?.kind == .preparation)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("A request's own step may replace all that is sent", .clauses("T-48", "T-49"))
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
        #expect(sent.method == .put && sent.target == "/v1/other?a=1" && sent.body.text == "all new")
    }

    @Test(
        "No step leads out of the upstream's base",
        arguments: ["/etc", "../secret", "a/../../b", "%2e%2e/b", "a/%2E./b"]
    )
    func escape(target: String) async throws {
        let bench = try ServiceBench([.answer(200)])
        var request = Request.plain()
        request.preparation = [Prepare(.attempt) { _, _ in HTTPRequest(method: .get, target: target) }]
        #expect(await bench.failure(of: request)?.kind == .preparation)
        #expect(bench.transport.sent.isEmpty)
    }
}

extension Body {
    /// The bytes in memory as text.
    var text: String? {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
}
