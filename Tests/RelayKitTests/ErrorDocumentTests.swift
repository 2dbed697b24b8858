import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("An upstream's own errors", .timeLimit(.minutes(5)))
struct ErrorDocumentTests {
    /// The reader that recognises the document.
    enum Reader: CaseIterable {
        /// The request, by a type of the program.
        case document
        /// The policy, by JSON pointers.
        case rule
    }

    static let envelope = #"{"error":{"code":"token_invalid","title":"Sign in again"}}"#

    private func bench(_ reader: Reader, _ steps: [ScriptedTransport.Step]) throws -> ServiceBench {
        try ServiceBench(steps) {
            guard reader == .rule else { return }
            $0.apiError = APIErrorRule(
                require: [pointer("/error/code"), pointer("/error/title")],
                code: pointer("/error/code"),
                title: pointer("/error/title")
            )
        }
    }

    private func request(_ reader: Reader) -> Request<Book> {
        var request = Request<Book>(.get, "books/7", decoder: ShapeCoder(), container: pointer("/data"))
        if reader == .document {
            request.errorDocument = ErrorDocument(
                APIProblem.self,
                at: pointer("/error"),
                decoder: ShapeCoder()
            )
        }
        return request
    }

    @Test(
        "The document decides before the status, and the status before the content",
        .clauses("AX-02", "AX-03", "AX-04", "AX-05", "AX-06", "AX-07"),
        arguments: Reader.allCases,
        [
            (200, envelope, "api_error"), (401, envelope, "api_error"), (500, envelope, "api_error"),
            (302, envelope, "api_error"),
            (500, #"{"message":"no"}"#, "http_status"), (500, "<html>", "http_status"),
            (404, "", "http_status"), (304, "", "http_status"),
            (500, #"{"error":{"code":"x"}}"#, "http_status"),
            (200, #"{"error":{"code":"x"},"data":{"title":"T"}}"#, "T"),
            (200, #"{"error":{"title":"x"},"data":{"title":"T"}}"#, "T"),
            (200, #"{"error":null,"data":{"title":"T"}}"#, "T"),
            (200, #"{"error":"down","data":{"title":"T"}}"#, "T"),
            (200, #"{"error":{"code":"x","title":"y"},"data":{"title":"T"}}"#, "api_error"),
            (200, #"{"data":{"title":"T"}}"#, "T"), (299, #"{"data":{"title":"T"}}"#, "T"),
            (300, #"{"data":{"title":"T"}}"#, "http_status"),
            (200, #"{"title":"T"}"#, "decoding"), (200, #"{"data":{"title":7}}"#, "decoding"),
            (200, "", "empty_response"), (200, "<html>", "decoding"),
        ] as [(UInt16, String, String)]
    )
    func precedence(reader: Reader, answer: (status: UInt16, body: String, expected: String)) async throws {
        let status = Status(rawValue: answer.status)
        let bench = try bench(reader, [.answer(status, [], answer.body)])
        let outcome = await bench.service.outcome(of: request(reader))
        #expect((outcome.gave?.title ?? outcome.endedWith?.kind.rawValue) == answer.expected)
        guard let failure = outcome.endedWith else { return }
        #expect(failure.status == status && failure.response?.words == answer.body)
        #expect(failure.sent == (status.class == .clientError ? .refused : .answered))
        #expect(failure.request?.target == "books/7")
    }

    @Test("The program gets the document it described, the policy's reader gives code and title")
    func contents() async throws {
        let byType = try await bench(.document, [.answer(500, [], Self.envelope)]).service
            .outcome(of: request(.document)).endedWith
        let problem = try #require(byType?.underlying as? APIProblem)
        #expect(problem.code == "token_invalid" && problem.title == "Sign in again")
        let byRule = try await bench(.rule, [.answer(500, [], Self.envelope)]).service
            .outcome(of: request(.rule)).endedWith
        #expect(byRule?.apiCode == "token_invalid" && byRule?.apiTitle == "Sign in again")
        #expect(byType?.detail.contains("Sign in") == false && byRule?.detail.contains("Sign in") == false)
    }

    @Test(
        "Every family of errors comes out of the same door",
        .clauses("AX-01", "AX-09", "G3-01"),
        arguments: [
            (.fail(.connectionRefused, .neverSent), "connection_refused"),
            (.fail(.httpResponseTimeout, .unknown), "http_response_timeout"),
            (.answer(404), "http_status"), (.answer(200, [], envelope), "api_error"),
            (.answer(200, [], "{"), "decoding"), (.answer(100), "http_protocol_error"),
        ] as [(ScriptedTransport.Step, String)]
    )
    func families(step: ScriptedTransport.Step, kind: String) async throws {
        let bench = try bench(.document, [step])
        let failure = await #expect(throws: Failure.self) {
            try await bench.service.execute(request(.document))
        }
        #expect(failure?.kind.rawValue == kind)
    }

    @Test("Neither an error document nor a status lets the content be read", .clauses("AX-02", "X-18"))
    func contentIsLast() async throws {
        let chronicle = Chronicle()
        for step in [.answer(500), .answer(200, [], Self.envelope), .answer(200)] as [ScriptedTransport.Step]
        {
            var request = Request(HTTPRequest(method: .get, target: "x")) { _ in chronicle.note("read") }
            request.successValidator = { _ in chronicle.note("validated") }
            request.errorDocument = ErrorDocument(
                APIProblem.self,
                at: pointer("/error"),
                decoder: ShapeCoder()
            )
            _ = try await ServiceBench([step]).service.outcome(of: request)
        }
        #expect(chronicle.entries == ["validated", "read"])
    }

    @Test("How much of a document is needed is the program's choice", .clauses("AX-10"))
    func strictness() async throws {
        let body = #"{"error":{"code":"quota_of_tomorrow"}}"#
        var request = Request<Void>(.get, "x")
        request.errorDocument = ErrorDocument(LooseProblem.self, at: pointer("/error"), decoder: ShapeCoder())
        let loose = try await ServiceBench([.answer(200, [], body)]).service.outcome(of: request)
        #expect((loose.endedWith?.underlying as? LooseProblem)?.code == "quota_of_tomorrow")
        let byRule = try ServiceBench([.answer(200, [], body)]) {
            $0.apiError = APIErrorRule(require: [pointer("/error/code")], code: pointer("/error/code"))
        }
        let failure = await byRule.service.outcome(of: Request<Void>(.get, "x")).endedWith
        #expect(failure?.apiCode == "quota_of_tomorrow")
    }

    @Test("A well-known code can be named, and rules then act on the name", .clauses("AX-10"))
    func namedCode() async throws {
        let bench = try ServiceBench([.answer(200, [], Self.envelope), .answer(200, [], #"{"data":[]}"#)]) {
            $0.recovery = [.backoff(on: [.kind("signed_out")])]
        }
        var request = Request<Void>(.get, "x")
        request.errorDocument = ErrorDocument(APIProblem.self, at: pointer("/error"), decoder: ShapeCoder())
        request.classify = { failure in
            var failure = failure
            if (failure.underlying as? APIProblem)?.code == "token_invalid" { failure.kind = "signed_out" }
            return failure
        }
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.endedWith == nil && outcome.attempts.count == 2)
        #expect(
            outcome.attempts[0].failure?.kind == "signed_out" && outcome.attempts[0].failure?.status == 200
        )
    }

    @Test(
        "A request for nothing but success is checked all the same and its content ignored",
        .clauses("AX-11"),
        arguments: [
            (200, "", nil), (204, "", nil), (200, "whatever", nil), (500, "", "http_status"),
            (200, envelope, "api_error"), (200, "invalid", "invalid_response"),
        ] as [(UInt16, String, String?)]
    )
    func empty(status: UInt16, body: String, kind: String?) async throws {
        var request = Request<Void>(.delete, "books/7")
        request.errorDocument = ErrorDocument(APIProblem.self, at: pointer("/error"), decoder: ShapeCoder())
        request.successValidator = { success in
            if success.response.words == "invalid" { throw Misshapen(wanted: "valid") }
        }
        let bench = try ServiceBench([.answer(Status(rawValue: status), [], body)])
        #expect(await bench.service.outcome(of: request).endedWith?.kind.rawValue == kind)
    }

    @Test("The error that the program's own check throws is the one that its caller finds", .clauses("T-101"))
    func ownValidation() async throws {
        var request = request(.document)
        request.successValidator = { _ in throw Misshapen(wanted: "a newer book") }
        let bench = try bench(.document, [.answer(200, [], #"{"data":{"title":"T"}}"#)])
        let failure = await bench.service.outcome(of: request).endedWith
        #expect(failure?.kind == .invalidResponse && failure?.status == 200)
        #expect((failure?.underlying as? Misshapen)?.wanted == "a newer book")
    }
}
