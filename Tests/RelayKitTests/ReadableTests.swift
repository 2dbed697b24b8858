import RelayKit
import RelayTestSupport
import Testing

@Suite("The output of a failed test can be read, and shows no secret", .timeLimit(.minutes(5)))
struct ReadableTests {
    @Test("An outcome tells every attempt and of its value only the type")
    func outcomes() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(200, [], "hidden"), .answer(404)],
            policy: { $0.recovery = [.again(on: [503])] }
        )
        let success = await bench.service.outcome(of: Request.plain())
        #expect(
            "\(success)"
                == "HTTPResponse from upstream; 1 to one: 503 Service Unavailable, http_status, again: retry; 2 to one: 200 OK"
        )
        let failure = await bench.service.outcome(of: Request.plain())
        #expect(
            "\(failure)".hasPrefix("http_status: ")
                && "\(failure)".hasSuffix("; 1 to one: 404 Not Found, http_status")
        )
        #expect(!"\(success)".contains("hidden"))
    }

    @Test("A sent request shows every field, whoever set it, and its text")
    func sent() async throws {
        let bench = try ServiceBench(
            [.answer(200)],
            policy: { $0.authentication = Authentication(form: .bearer, credential: "login") },
            credentials: [CredentialDefinition("login") { AccessToken("hidden") }]
        )
        let request = Request(
            .post,
            "books?key=hidden",
            headers: ["Accept": "text/plain"],
            content: .text("Emma")
        )
        _ = try await bench.service.execute(request as PlainRequest<HTTPResponse>)
        let sent = bench.transport.sent[0]
        #expect(
            sent[.authorization] == "Bearer hidden" && sent[.accept] == "text/plain" && sent.text == "Emma"
        )
        #expect(sent[.location] == nil)
        #expect(sent.allFields.pairs.map(\.name).contains("Authorization") && sent.allFields.count == 4)
        #expect("\(sent)".hasPrefix("POST https://one.example/v1/books [") && !"\(sent)".contains("hidden"))
    }

    @Test(
        "An absolute URL is no target: nothing is sent, and the failure says so",
        arguments: [
            "http://books.example/7", "https://books.example/7", "HTTP://books.example/7", "/http://x/",
        ]
    )
    func absolute(path: String) async throws {
        let bench = try ServiceBench([])
        let failure = await bench.service.outcome(of: PlainRequest<HTTPResponse>(.get, RequestPath(path)))
            .failure
        #expect(failure?.kind == .preparation && failure?.detail.contains("absolute URL") == true)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test(
        "A path that only has a URL somewhere in it is sent",
        arguments: ["httpx://a", "see/http://books.example/", "?of=http://books.example/", "http:/a"]
    )
    func relative(path: String) async throws {
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(PlainRequest<HTTPResponse>(.get, RequestPath(path)))
        #expect(bench.transport.sent.map(\.target) == ["/v1/" + path])
    }
}
