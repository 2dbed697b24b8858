import FoundationEssentials
import RelayDoors
import RelayKit
import RelayTesting
import Synchronization
import Testing

@Suite("The glue that the article shows", .timeLimit(.minutes(1)))
struct GlueTests {
    private let url = URL(filePath: "/")

    private func answer(_ code: Int, _ fields: [(String, String)] = []) -> (HTTPTypes.HTTPResponse, HTTPBody?)
    {
        let fields = fields.compactMap { name, value in
            HTTPTypes.HTTPField.Name(name).map { HTTPTypes.HTTPField(name: $0, value: value) }
        }
        let status = HTTPTypes.HTTPResponse.Status(code: code)
        return (HTTPTypes.HTTPResponse(status: status, headerFields: HTTPTypes.HTTPFields(fields)), nil)
    }

    private func request(_ method: String) -> HTTPTypes.HTTPRequest {
        HTTPTypes.HTTPRequest(
            method: HTTPTypes.HTTPRequest.Method(rawValue: method),
            path: "/books/7",
            headerFields: HTTPTypes.HTTPFields([])
        )
    }

    @Test("A generated client gets a token, and another after a 401, in three lines of glue")
    func openAPI() async throws {
        let tokens = Mutex(["new", "old"])
        let recovery = try Recovery { tokens.withLock { $0.removeLast() } }
        let seen = Mutex<[String]>([])
        let (response, _) = try await recovery.intercept(
            request("PUT"),
            body: HTTPBody([1], iterationBehavior: .single),
            baseURL: url,
            operationID: "book"
        ) { [answer] request, body, _ in
            let field = request.headerFields.first { $0.name.rawName.lowercased() == "authorization" }
            seen.withLock { $0.append("\(field?.value ?? "none") \(body?.bytes ?? [])") }
            return answer(field?.value == "Bearer new" ? 200 : 401, [])
        }
        #expect(response.status.code == 200)
        #expect(seen.withLock { $0 } == ["Bearer old [1]", "Bearer new [1]"])
    }

    @Test("Content that can be read once is collected up to the bound, where its length is known")
    func content() async throws {
        let glue = OpenAPIGlue()
        let once = HTTPBody([1, 2], iterationBehavior: .single)
        #expect(try await glue.repeatable(once, upTo: 2)??.iterationBehavior == .multiple)
        #expect(try await glue.repeatable(once, upTo: 1) == nil)
        let endless = HTTPBody([1], length: .unknown, iterationBehavior: .single)
        #expect(try await glue.repeatable(endless, upTo: 9) == nil)
        let many = HTTPBody([1])
        #expect(try await glue.repeatable(many, upTo: 0)?.map { $0 === many } == true)
        #expect(try await glue.repeatable(nil, upTo: 0) != nil)
    }

    @Test("AsyncHTTPClient's requests are asked again where it never connected, and content is made anew")
    func asyncHTTPClient() async throws {
        let fine = HTTPClientResponse(status: HTTPResponseStatus(code: 200), headers: HTTPHeaders())
        let client = HTTPClient([.failure(HTTPClientError.connectTimeout), .success(fine)])
        let relay = try RelayMiddleware(
            AsyncHTTPClientGlue(),
            time: VirtualTime(),
            entropy: SeededEntropy()
        ) { $0.recovery = [.backoff(on: [.connection, .timeout])] }
        var request = HTTPClientRequest(url: "https://books.example/orders?full=1")
        request.method = HTTPMethod(rawValue: "POST")
        #expect(try await client.execute(request, [1, 2], through: relay).status.code == 200)
        #expect(client.sent.map(\.body?.bytes) == [[1, 2], [1, 2]])
        #expect(client.sent.map(\.url) == [request.url, request.url])
        let lost = HTTPClient([.failure(HTTPClientError.remoteConnectionClosed)])
        await #expect(throws: HTTPClientError.remoteConnectionClosed) {
            try await lost.execute(request, through: relay)
        }
        #expect(HTTPClient.Configuration.plain.redirectConfiguration == .disallow)
    }
}
