import RelayKit
import RelayTestSupport
import Testing

/// The ways to derive a request from another.
enum Derivation: String, CaseIterable, Sendable {
    case map
    case mapWithExchange
    case withTransportSuccess
    case throwing
    case throwingTypes
    case addingHeaders
    case usingHeaders
    case usingTarget
    case usingContent
    case all

    func callAsFunction(_ request: PlainRequest<String>) -> PlainRequest<String> {
        switch self {
        case .map: request.map { $0 }
        case .mapWithExchange: request.map { value, _ in value }
        case .withTransportSuccess: request.withTransportSuccess().map { $0.0 }
        case .throwing: request.throwing { $0 }
        case .throwingTypes: request.throwing(Wrapped.self).throwing { $0.failure }
        case .addingHeaders: request.addingHeaders(["X-Derived": "1"])
        case .usingHeaders: request.usingHeaders(["X-Derived": "1"])
        case .usingTarget: request.usingTarget("x")
        case .usingContent: request.usingContent(.text("derived"))
        case .all:
            Derivation.allCases.filter { $0 != .all }.reduce(request) { derived, next in next(derived) }
        }
    }
}

/// An error that is a failure and nothing else.
private struct Wrapped: FailureInitializable {
    let failure: Failure

    init(_ failure: Failure) { self.failure = failure }
}

/// A setting of a request, and what it makes of these answers; how the job ends and what was sent show it.
struct Setting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = Method.get
    var steps: [ScriptedTransport.Step]
    var rules: [RecoveryRule] = []
    let change: @Sendable (inout PlainRequest<String>) -> Void
    let holds: @Sendable (PlainOutcome<String>, [OutboundRequest]) -> Bool

    private static func setting(
        _ name: String,
        _ method: Method = .get,
        _ steps: [ScriptedTransport.Step] = [.answer(200)],
        _ rules: [RecoveryRule] = [],
        _ change: @escaping @Sendable (inout PlainRequest<String>) -> Void,
        _ holds: @escaping @Sendable (PlainOutcome<String>, [OutboundRequest]) -> Bool
    ) -> Setting {
        Setting(
            testDescription: name,
            method: method,
            steps: steps,
            rules: rules,
            change: change,
            holds: holds
        )
    }

    private static let busy = Array(repeating: ScriptedTransport.Step.answer(503), count: 9)
    private static let seen: @Sendable (TransportSuccess) throws -> Void = { _ in throw Problem(code: "seen")
    }

    static let all = [
        setting("attempts", .get, busy, [.again()]) {
            $0.options.maxAttempts = 2
        } _: {
            $0.failure?.status == 503 && $1.count == 2
        },
        setting("times", .get, busy, [.again()]) {
            $0.options.timeout = .milliseconds(2500)
            $0.options.attemptTimeout = .milliseconds(700)
        } _: {
            $1.map(\.deadline.nanoseconds) == [700_000_000, 1_700_000_000, 2_500_000_000]
        },
        setting("no fallback", .get, busy, [.placeholder(CannedAnswer(status: 200))]) {
            $0.options.allowsFallback = false
        } _: { outcome, _ in
            outcome.failure?.status == 503
        },
        setting("repeatable", .post, [.fail(.connectionTerminated, .unknown), .answer(200)], [.again()]) {
            $0.options.isRepeatable = true
        } _: {
            $0.failure == nil && $1.count == 2
        },
        setting("preparation") {
            $0.preparation = [
                Prepare.changing { request, _ in request.fields.set(.userAgent, "prepared") }
            ]
        } _: {
            $1.map { $0[.userAgent] } == ["prepared"]
        },
        setting("quick recovery", .get, [.answer(500, [], "good enough")]) {
            $0.quickRecovery = { $0.response }
        } _: { outcome, _ in
            outcome.value == "good enough"
        },
        setting("validator") {
            $0.successValidator = seen
        } _: { outcome, _ in
            (outcome.failure?.underlying as? Problem)?.code == "seen"
        },
        setting("validated quick recovery", .get, busy) {
            $0.quickRecovery = { $0.response }
            $0.successValidator = seen
            $0.validatesQuickRecovery = true
        } _: { outcome, _ in
            outcome.failure?.kind == .invalidResponse
        },
        setting("error document") {
            $0.errorDocument = ErrorDocument { _ in Problem(code: "told") }
        } _: { outcome, _ in
            outcome.failure?.kind == .apiError
        },
        setting("names for the rules", .get, [.answer(404), .answer(200)], [.again(on: [.kind("named")])]) {
            $0.classify = { Failure("named", sent: $0.sent, "for the rules") }
        } _: {
            $0.failure == nil && $1.count == 2
        },
        setting("names for the caller", .get, busy) {
            $0 = $0.throwing { Failure("named", sent: $0.sent, "for the caller") }
        } _: { outcome, _ in
            outcome.failure?.kind == "named"
        },
        setting("placeholder", .get, busy) {
            $0.placeholder = { _ in "instead" }
        } _: { outcome, _ in
            outcome.value == "instead" && outcome.source == .placeholder
        },
    ]
}

@Suite("A derived request keeps every setting", .timeLimit(.minutes(5)))
struct CarriedSettingsTests {
    @Test(
        "A derived request keeps its settings, whatever it is derived by",
        .clauses("G3-19", "N-15", "X-06"),
        arguments: Setting.all,
        Derivation.allCases
    )
    func settings(setting: Setting, derive: Derivation) async throws {
        var request = PlainRequest<HTTPResponse>(setting.method, "x").map { $0.text ?? "" }
        setting.change(&request)
        let bench = try ServiceBench(setting.steps) { $0.recovery = setting.rules }
        let outcome = await bench.service.outcome(of: derive(request))
        #expect(setting.holds(outcome, bench.transport.sent), "\(outcome)")
    }

    @Test("A derived request keeps what it sends", .clauses("G3-19", "X-06"), arguments: Derivation.allCases)
    func http(derive: Derivation) async throws {
        let request = PlainRequest<HTTPResponse>(.put, "x", content: .text("sent")).map { $0.text ?? "" }
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(derive(request))
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .put && sent.target == "/v1/x")
        #expect(sent.text == (derive == .usingContent || derive == .all ? "derived" : "sent"))
        #expect(sent.fields.values(.contentType) == [MediaType.plainText])
    }
}
