import RelayBase
import RelayClient
import Testing

@Suite("Requests that the client refuses to send", .timeLimit(.minutes(5)))
struct ClientRequestTests {
    private let client = RelayClient(socketPath: "/tmp/waystation-no-such.sock")

    @Test(
        "a route's name that could lead elsewhere",
        arguments: ["", ".", "..", "a/b", "a%2fb", "a b", "ä", "a?b"]
    )
    func route(name: String) async {
        let error = await #expect(throws: RelayClientError.self) { try await client.send(route: name) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "a path that could break out of the request line",
        arguments: ["a b", "a\r\nX: y", "a\u{0}", "ä", "a#b", "a\tb"]
    )
    func path(path: String) async {
        let error = await #expect(throws: RelayClientError.self) {
            try await client.send(route: "a", path: RequestPath(path))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a method that is no token", arguments: ["", "GET /", "G\r\nT"])
    func method(method: String) async {
        let error = await #expect(throws: RelayClientError.self) {
            try await client.request(Method(rawValue: method), "/")
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "fields that frame the message",
        arguments: ["Host", "content-length", "Transfer-Encoding", "Connection", "Expect"]
    )
    func framing(name: String) async {
        let fields = {
            var fields = HeaderFields()
            fields.append(name, "1")
            return fields
        }()
        let error = await #expect(throws: RelayClientError.self) {
            try await client.request(.get, "/", fields: fields)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a target without its slash", arguments: ["", "v1/status", "http://elsewhere/"])
    func target(target: String) async {
        let error = await #expect(throws: RelayClientError.self) { try await client.request(.get, target) }
        #expect(error?.code == .invalidRequest)
    }
}
