import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("The values that stand in for a failure", .timeLimit(.minutes(5)))
struct ReplacementTests {
    private static let request = PlainRequest<Book>.book("books/7")

    /// A way to fail at each stage.
    static let stages: [(ScriptedTransport.Step, String)] = [
        (.fail(.connectionRefused, .neverSent), "connection_refused"),
        (.fail(.httpResponseTimeout, .unknown), "http_response_timeout"),
        (.answer(404), "http_status 404"), (.answer(503), "http_status 503"),
        (.answer(600), "http_protocol_error"), (.answer(200, [], "<garbage>"), "decoding 200"),
        (.answer(200, [], #"{"title":"old"}"#), "invalid_response 200"),
    ]

    private static func strict(_ request: PlainRequest<Book>) -> PlainRequest<Book> {
        var request = request
        request.successValidator = { success in
            if success.response.text?.contains("old") == true { throw Misshapen(wanted: "new") }
        }
        return request
    }

    private static func words(_ failure: Failure) -> String {
        failure.kind.rawValue + (failure.status.map { " \($0.rawValue)" } ?? "")
    }

    /// Takes values and nothing else.
    private actor Screen {
        private(set) var shown: [String] = []

        func show(_ request: PlainRequest<Book>, from service: RelayService) async {
            shown.append(await service.value(of: request) { Book(title: ReplacementTests.words($0)) }.title)
        }
    }

    @Test(
        "A caller that accepts no failure gets a value for each, in its own context",
        .clauses("UC-01", "UC-02", "UC-05")
    )
    func screen() async throws {
        let bench = try ServiceBench(Self.stages.map(\.0) + [.answer(200, [], #"{"title":"T"}"#)])
        let screen = Screen()
        for _ in 0...Self.stages.count { await screen.show(Self.strict(Self.request), from: bench.service) }
        #expect(await screen.shown == Self.stages.map(\.1) + ["T"])
    }

    @Test(
        "A request's own placeholder covers every stage and sees what failed",
        .clauses("UC-04", "UC-05", "T-125"),
        arguments: stages
    )
    func everyStage(step: ScriptedTransport.Step, words: String) async throws {
        var request = Self.strict(Self.request)
        request.placeholder = { Book(title: "\(Self.words($0)) \($0.request?.target ?? "")") }
        let bench = try ServiceBench([step])
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.source == .placeholder && outcome.attempts.count == 1)
        #expect(outcome.value?.title == words + " books/7")
    }

    @Test(
        "A placeholder may be chosen by the failure, after all recovery; a request that it replaced is over",
        .clauses("UC-04", "UC-06", "UC-08", "T-125")
    )
    func chosen() async throws {
        let (log, endings) = (Log(), Endings())
        var request = Self.request
        request.placeholder = { failure in
            log.note("\(failure.status?.rawValue ?? 0)")
            return failure.status == 404 ? Book(title: "no such book") : nil
        }
        let bench = try ServiceBench(
            [.answer(503), .answer(404), .answer(200, [], #"{"title":"T"}"#), .answer(502)],
            policy: { $0.recovery = [.backoff(on: [503])] },
            observers: [endings]
        )
        #expect(try await bench.service.execute(request).title == "no such book")
        #expect(try await bench.service.execute(request).title == "T")
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.failure?.status == 502 && outcome.source == nil)
        #expect(log.lines == ["404", "502"] && bench.transport.sent.count == 4)
        #expect(endings.jobs.map(\.source) == [.placeholder, .upstream, nil])
    }

    @Test(
        "The policy's placeholder or fallback is read by the request like any answer, and marked",
        .clauses("UC-04", "N-14")
    )
    func ofThePolicy() async throws {
        let canned = CannedAnswer(bytes: Array(#"{"title":"canned"}"#.utf8))
        for (rule, source) in [
            (RecoveryRule.placeholder(canned), AnswerSource.placeholder), (.fallback(canned), .fallback),
        ] {
            let bench = try ServiceBench([.answer(503)]) { $0.recovery = [rule] }
            let outcome = await bench.service.outcome(of: Self.request)
            #expect(outcome.value?.title == "canned" && outcome.source == source)
            #expect(outcome.recoveredBy == [source.rawValue])
        }
    }
}
