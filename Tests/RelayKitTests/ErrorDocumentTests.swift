import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("An upstream's own errors", .timeLimit(.minutes(5)))
struct ErrorDocumentTests {
    static let envelope = #"{"error":{"code":"token_invalid","title":"Sign in again"}}"#

    private static let document = ErrorDocument(APIProblem.self, at: pointer("/error"), decoder: ShapeCoder())

    @Test(
        "The document decides before the status, and the status before the content",
        .clauses("AX-02", "AX-03", "AX-04", "AX-05", "AX-06", "AX-07"),
        arguments: [
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
    func precedence(code: UInt16, body: String, expected: String) async throws {
        let status = Status(rawValue: code)
        let bench = try ServiceBench([.answer(status, [], body)])
        var request = Request.book("books/7", container: pointer("/data"))
        request.errorDocument = Self.document
        let outcome = await bench.service.outcome(of: request)
        #expect((outcome.value?.title ?? outcome.failure?.kind.rawValue) == expected)
        guard let failure = outcome.failure else { return }
        #expect(failure.status == status && failure.response?.text == body)
        if expected == "api_error" { #expect(failure.underlying is APIProblem) }
        #expect(failure.sent == (status.class == .clientError ? .refused : .answered))
        #expect(failure.request?.target == "books/7")
    }

    @Test("The program gets the document it described, the policy's reader gives code and title")
    func contents() async throws {
        var request = Request.plain()
        request.errorDocument = Self.document
        let byType = try await ServiceBench([.answer(500, [], Self.envelope)]).failure(of: request)
        let problem = try #require(byType?.underlying as? APIProblem)
        #expect(problem.code == "token_invalid" && problem.title == "Sign in again")
        let byRule = try await ServiceBench([.answer(200, [], Self.envelope)]) {
            $0.apiError = APIErrorRule(
                require: [pointer("/error/code")],
                code: pointer("/error/code"),
                title: pointer("/error/title")
            )
        }.run().failure
        #expect(byRule?.kind == .apiError && byRule?.status == 200)
        #expect(byRule?.apiCode == "token_invalid" && byRule?.apiTitle == "Sign in again")
        #expect(byType?.detail.contains("Sign in") == false && byRule?.detail.contains("Sign in") == false)
    }

    @Test("A well-known code can be named, and rules then act on the name", .clauses("AX-10"))
    func namedCode() async throws {
        let bench = try ServiceBench([.answer(200, [], Self.envelope), .answer(200, [], #"{"data":[]}"#)]) {
            $0.recovery = [.backoff(on: [.kind("signed_out")])]
        }
        var request = PlainRequest<Void>(.get, "x")
        request.errorDocument = Self.document
        request.classify = { failure in
            var failure = failure
            if (failure.underlying as? APIProblem)?.code == "token_invalid" { failure.kind = "signed_out" }
            return failure
        }
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.failure == nil && outcome.attempts.count == 2)
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
        var request = PlainRequest<Void>(.delete, "books/7")
        request.errorDocument = Self.document
        request.successValidator = { success in
            if success.response.text == "invalid" { throw Misshapen(wanted: "valid") }
        }
        let bench = try ServiceBench([.answer(Status(rawValue: status), [], body)])
        #expect(await bench.service.outcome(of: request).failure?.kind.rawValue == kind)
    }
}
