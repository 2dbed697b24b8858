import RelayKit
import RelayTestSupport
import Testing

@Suite("The output of a failed test can be read, and shows no secret", .timeLimit(.minutes(5)))
struct ReadableTests {
    private static func fields() -> HeaderFields {
        var fields = HeaderFields()
        fields.append("Authorization", "Bearer hidden")
        fields.append("X-Empty", "")
        return fields
    }

    private static func printed(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    @Test("Values print as one line that tells what they are")
    func lines() {
        let response = HTTPResponse(status: 404, fields: Self.fields(), body: .bytes(Array("hidden".utf8)))
        let request = HTTPRequest(method: .get, target: "books/7?key=hidden", fields: Self.fields())
        #expect("\(FailureKind.httpStatus)" == "http_status")
        #expect("\(Self.fields())" == "[Authorization: 13 bytes, X-Empty: 0 bytes]")
        #expect("\(response)" == "404 Not Found [Authorization: 13 bytes, X-Empty: 0 bytes] 6 bytes")
        #expect("\(request)" == "GET books/7 [Authorization: 13 bytes, X-Empty: 0 bytes] no content")
        var exchange = Exchange(address: "192.0.2.1:443")
        exchange.connect = .milliseconds(5)
        exchange.firstByte = .seconds(1)
        #expect("\(exchange)" == "192.0.2.1:443, connect 0.005 seconds, first byte 1.0 seconds")
        #expect("\(Exchange())" == "nothing dialled")
    }

    @Test("Neither values of fields nor content nor a query is printed, however it is printed")
    func secrets() {
        let response = HTTPResponse(status: 200, fields: Self.fields(), body: .bytes(Array("hidden".utf8)))
        let request = HTTPRequest(method: .get, target: "books/7?key=hidden", fields: Self.fields())
        for text in Self.printed(response) + Self.printed(Self.fields()) + ["\(request)"] {
            // The second is the beginning of the word as numbers.
            #expect(!text.contains("hidden") && !text.contains("104, 105") && !text.contains("- 104"))
        }
    }

    @Test("A failure tells the type of what is behind it, and the upstream's code, each once")
    func failures() {
        struct Secretive: Error { let text = "hidden" }
        var failure = Failure(.invalidResponse, sent: .answered, "not as wanted")
        #expect("\(failure)" == "invalid_response: not as wanted")
        failure.apiCode = "gone"
        failure.underlying = Secretive()
        #expect("\(failure)" == "invalid_response: not as wanted (code gone) (underlying: Secretive)")
        failure.detail = "the upstream's error (code gone)"
        failure.underlying = nil
        #expect("\(failure)" == "invalid_response: the upstream's error (code gone)")
    }

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
        #expect(!Self.printed(success)[0].contains("hidden"))
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
        _ = try await bench.service.execute(request as Request<HTTPResponse>)
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
        let failure = await bench.service.outcome(of: Request<HTTPResponse>(.get, RequestPath(path))).failure
        #expect(failure?.kind == .preparation && failure?.detail.contains("absolute URL") == true)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test(
        "A path that only has a URL somewhere in it is sent",
        arguments: ["httpx://a", "see/http://books.example/", "?of=http://books.example/", "http:/a"]
    )
    func relative(path: String) async throws {
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(Request<HTTPResponse>(.get, RequestPath(path)))
        #expect(bench.transport.sent.map(\.target) == ["/v1/" + path])
    }
}
