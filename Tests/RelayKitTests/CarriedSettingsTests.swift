import RelayKit
import RelayTestSupport
import Testing

/// The ways to derive a request from another.
enum Derivation: String, CaseIterable, Sendable {
    case map
    case mapWithExchange
    case withTransportSuccess
    case throwing
    case addingHeaders
    case usingHeaders
    case usingTarget
    case usingContent
    case all

    func callAsFunction(_ request: Request<String>) -> Request<String> {
        switch self {
        case .map: request.map { $0 }
        case .mapWithExchange: request.map { value, _ in value }
        case .withTransportSuccess: request.withTransportSuccess().map { $0.0 }
        case .throwing: request.throwing { $0 }
        case .addingHeaders: request.addingHeaders(["X-Derived": "1"])
        case .usingHeaders: request.usingHeaders(["X-Derived": "1"])
        case .usingTarget: request.usingTarget("x")
        case .usingContent: request.usingContent(.text("derived"))
        case .all:
            Derivation.allCases.filter { $0 != .all }.reduce(request) { derived, next in next(derived) }
        }
    }
}

@Suite("A derived request keeps every setting", .timeLimit(.minutes(5)))
struct CarriedSettingsTests {
    private func request(_ method: RelayBase.Method = .get) -> Request<String> {
        Request<HTTPResponse>(method, "x").map { $0.text ?? "" }
    }

    @Test(
        "A derived request keeps its attempts",
        .clauses("G3-19", "X-06", "N-15"),
        arguments: Derivation.allCases
    )
    func maxAttempts(derive: Derivation) async throws {
        var request = request()
        request.options.maxAttempts = 2
        let bench = try ServiceBench([], policy: { $0.recovery = [.again()] }, answer: { _ in .answer(503) })
        #expect(await bench.failure(of: derive(request))?.status == 503)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A derived request keeps its times", .clauses("G3-19", "X-06"), arguments: Derivation.allCases)
    func times(derive: Derivation) async throws {
        var request = request()
        request.options.timeout = .milliseconds(2500)
        request.options.attemptTimeout = .milliseconds(700)
        let bench = try ServiceBench([], policy: { $0.recovery = [.again()] }, answer: { _ in .answer(503) })
        #expect(await bench.failure(of: derive(request))?.status == 503)
        #expect(
            bench.transport.sent.map(\.deadline.nanoseconds) == [700_000_000, 1_700_000_000, 2_500_000_000]
        )
    }

    @Test(
        "A derived request keeps that it takes no answer but the upstream's",
        .clauses("G3-19", "X-06", "N-15"),
        arguments: Derivation.allCases
    )
    func fallback(derive: Derivation) async throws {
        var request = request()
        request.options.allowsFallback = false
        let bench = try ServiceBench([.answer(503)]) {
            $0.recovery = [.placeholder(CannedAnswer(status: 200))]
        }
        #expect(await bench.failure(of: derive(request))?.status == 503)
    }

    @Test(
        "A derived request keeps that it may be repeated",
        .clauses("G3-19", "X-06", "N-15"),
        arguments: Derivation.allCases
    )
    func repeatable(derive: Derivation) async throws {
        var request = request(.post)
        request.options.isRepeatable = true
        let bench = try ServiceBench([.fail(.connectionTerminated, .unknown), .answer(200, [], "ok")]) {
            $0.recovery = [.again()]
        }
        #expect(try await bench.service.execute(derive(request)) == "ok")
    }

    @Test(
        "A derived request keeps its preparation",
        .clauses("G3-19", "X-06"),
        arguments: Derivation.allCases
    )
    func preparation(derive: Derivation) async throws {
        var request = request()
        request.preparation = [
            Prepare(.attempt) { request, _ in
                var request = request
                request.fields.set(.userAgent, "prepared")
                return request
            }
        ]
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(derive(request))
        #expect(bench.sentValues(.userAgent) == ["prepared"])
    }

    @Test(
        "A derived request keeps its quick recovery",
        .clauses("G3-19", "X-06", "N-15"),
        arguments: Derivation.allCases
    )
    func quickRecovery(derive: Derivation) async throws {
        var request = request()
        request.quickRecovery = { $0.response }
        let bench = try ServiceBench([.answer(500, [], "good enough")])
        #expect(try await bench.service.execute(derive(request)) == "good enough")
    }

    @Test("A derived request keeps its validator", .clauses("G3-19", "X-06"), arguments: Derivation.allCases)
    func validator(derive: Derivation) async throws {
        var request = request()
        request.successValidator = { _ in throw RecipeProblem(code: "seen") }
        let bench = try ServiceBench([.answer(200)])
        let failure = await bench.failure(of: derive(request))
        #expect(failure?.underlying as? RecipeProblem == RecipeProblem(code: "seen"))
    }

    @Test(
        "A derived request keeps that its validator looks at quick-recovered answers",
        .clauses("G3-19", "X-06"),
        arguments: Derivation.allCases
    )
    func validatesQuickRecovery(derive: Derivation) async throws {
        var request = request()
        request.quickRecovery = { $0.response }
        request.successValidator = { _ in throw RecipeProblem(code: "seen") }
        request.validatesQuickRecovery = true
        let bench = try ServiceBench([.answer(500)])
        #expect(await bench.failure(of: derive(request))?.kind == .invalidResponse)
    }

    @Test(
        "A derived request keeps its error document",
        .clauses("G3-19", "X-06"),
        arguments: Derivation.allCases
    )
    func errorDocument(derive: Derivation) async throws {
        var request = request()
        request.errorDocument = ErrorDocument { _ in RecipeProblem(code: "told") }
        let bench = try ServiceBench([.answer(200)])
        #expect(await bench.failure(of: derive(request))?.kind == .apiError)
    }

    @Test(
        "A derived request keeps how it names failures for the rules",
        .clauses("G3-19", "X-06", "N-15"),
        arguments: Derivation.allCases
    )
    func classify(derive: Derivation) async throws {
        var request = request()
        request.classify = { failure in
            var named = failure
            named.kind = "named"
            return named
        }
        let bench = try ServiceBench([.answer(404), .answer(200, [], "ok")]) {
            $0.recovery = [.again(on: [.kind("named")])]
        }
        #expect(try await bench.service.execute(derive(request)) == "ok")
    }

    @Test(
        "A derived request keeps how it names failures for the caller",
        .clauses("G3-19", "X-06"),
        arguments: Derivation.allCases
    )
    func mapFailure(derive: Derivation) async throws {
        let request = request().throwing { Failure("named", sent: $0.sent, "for the caller") }
        let bench = try ServiceBench([.answer(404)])
        #expect(await bench.failure(of: derive(request))?.kind == "named")
    }

    @Test(
        "A derived request keeps its placeholder",
        .clauses("G3-19", "X-06", "N-15"),
        arguments: Derivation.allCases
    )
    func placeholder(derive: Derivation) async throws {
        var request = request()
        request.placeholder = { _ in "instead" }
        let bench = try ServiceBench([.answer(404)])
        let outcome = await bench.service.outcome(of: derive(request))
        #expect(try outcome.result.get() == "instead" && outcome.source == .placeholder)
    }

    @Test("A derived request keeps what it sends", .clauses("G3-19", "X-06"), arguments: Derivation.allCases)
    func http(derive: Derivation) async throws {
        let request = Request<HTTPResponse>(.put, "x", content: .text("sent")).map { $0.text ?? "" }
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(derive(request))
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .put && sent.target == "/v1/x")
        #expect(sent.body.text == (derive == .usingContent || derive == .all ? "derived" : "sent"))
        #expect(sent.fields.values(.contentType) == [MediaType.plainText])
    }
}
