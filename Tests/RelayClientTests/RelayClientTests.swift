import Glibc
import RelayBase
import RelayClient
import RelayPosix
import Testing

@Suite("Relay client", .timeLimit(.minutes(5)))
struct RelayClientTests {
    private let fine = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    @Test("a request to a route is one HTTP request with its own framing")
    func request() async throws {
        let relay = try StubRelay(.answer(fine))
        var fields = HeaderFields()
        fields.append("Idempotency-Key", "\"k1\"")
        let answer = try await relay.client
            .send(
                route: "billing",
                method: .post,
                path: "/charges?x=1",
                fields: fields,
                body: Array("abc".utf8)
            )
        #expect(answer.status == 200)
        #expect(answer.text == "hello")
        #expect(
            relay.requests == [
                "POST /r/billing/charges?x=1 HTTP/1.1\r\nHost: waystation\r\nConnection: close\r\n"
                    + "User-Agent: \(Version.libraryUserAgent)\r\nIdempotency-Key: \"k1\"\r\nContent-Length: 3\r\n\r\nabc"
            ]
        )
    }

    @Test(
        "a body larger than the call allows is refused under its own name, announced or not",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nhello",
        ]
    )
    func tooLarge(answer: String) async throws {
        let relay = try StubRelay(.answer(answer))
        let error = await #expect(throws: RelayClientError.self) {
            try await relay.client.send(route: "a", maxResponseBody: 4)
        }
        #expect(error?.code == .responseTooLarge && relay.requests.count == 1)
    }

    @Test("a streamed answer has its head at once and its body piece by piece, however large")
    func streamed() async throws {
        let body = String(repeating: "0123456789abcdef", count: 20_000)
        let relay = try StubRelay(
            .answer(
                "HTTP/1.1 200 OK\r\nWaystation-Source: upstream\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    + body
            )
        )
        var client = relay.client
        client.maxResponseBody = 1
        let answer = try await client.stream(route: "a", path: "b")
        #expect(answer.head.status == 200 && answer.head.source == .upstream && answer.head.body.isEmpty)
        var pieces: [[UInt8]] = []
        for try await piece in answer { pieces.append(piece) }
        #expect(pieces.count > 1 && Array(pieces.joined()) == Array(body.utf8))
    }

    @Test("a streamed body that breaks off ends with an error")
    func broken() async throws {
        let relay = try StubRelay(.answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"))
        let answer = try await relay.client.stream(route: "a")
        var text = ""
        let error = await #expect(throws: RelayClientError.self) {
            for try await piece in answer { text += String(decoding: piece, as: UTF8.self) }
        }
        #expect(error?.code == .connectionLost && text == "hello")
    }

    @Test("the relay's own fields tell who answered, after how many attempts, and for which job")
    func provenance() async throws {
        let relay = try StubRelay(
            .answer(
                "HTTP/1.1 200 OK\r\nWaystation-Source: placeholder\r\nWaystation-Attempts: 3\r\n"
                    + "Waystation-Outcome: failure\r\nWaystation-Job: 01K9\r\nContent-Length: 0\r\n\r\n"
            )
        )
        let answer = try await relay.client.send(route: "a")
        #expect(answer.source == .placeholder)
        #expect(answer.outcome == .failure)
        #expect(answer.attempts == 3)
        #expect(answer.job == "01K9")
    }

    @Test(
        "a stand-in tells whether the request goes on as a kept job",
        arguments: [
            ("", false), ("Waystation-Kept: true\r\n", true),
            ("Waystation-Kept: false; reason=\"no\"\r\n", false),
        ]
    )
    func kept(field: String, isKept: Bool) async throws {
        let relay = try StubRelay(.answer("HTTP/1.1 200 OK\r\n\(field)Content-Length: 0\r\n\r\n"))
        #expect(try await relay.client.send(route: "a").isKept == isKept)
    }

    @Test(
        "every framing of a body is read to its end",
        arguments: [
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                "abcde"
            ),
            ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end"),
            ("HTTP/1.1 204 No Content\r\n\r\n", ""),
            ("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"),
        ]
    )
    func framing(answer: String, body: String) async throws {
        let relay = try StubRelay(.answer(answer))
        #expect(try await relay.client.request(.get, "/v1/status").text == body)
    }

    @Test(
        "an answer that is cut short or is no HTTP is an error",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", RelayClientError.Code.connectionLost),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", .connectionLost),
            ("HTTP/1.1 200", .connectionLost), ("", .connectionLost),
            ("SSH-2.0-OpenSSH\r\n", .invalidResponse),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .invalidResponse),
            (String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 11), .invalidResponse),
        ]
    )
    func broken(answer: String, code: RelayClientError.Code) async throws {
        let relay = try StubRelay(.answer(answer))
        let error = await #expect(throws: RelayClientError.self) {
            try await relay.client.request(.get, "/")
        }
        #expect(error?.code == code)
    }

    @Test("a body beyond the limit is an error and not memory", arguments: [4, 5])
    func limit(limit: Int) async throws {
        let relay = try StubRelay(.answer(fine))
        var client = relay.client
        client.maxResponseBody = limit
        let result = try? await client.request(.get, "/")
        #expect((result?.text == "hello") == (limit == 5))
    }

    @Test("an answer that comes before the body was sent is taken, and the sending ends")
    func earlyAnswer() async throws {
        let relay = try StubRelay(
            .answerEarly("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
        )
        let body = [UInt8](repeating: 0, count: 8_000_000)
        let answer = try await relay.client.send(route: "a", method: .put, body: body)
        #expect(answer.status == 413)
        #expect(answer.text == "big")
    }

    @Test(
        "a relay that is not there is not reachable",
        arguments: ["/tmp/waystation-no-such.sock", "/dev/null"]
    )
    func notThere(path: String) async {
        let error = await #expect(throws: RelayClientError.self) {
            try await RelayClient(socketPath: path).request(.get, "/")
        }
        #expect(error?.code == .notReachable)
        #expect(error?.message.contains(path) == true)
    }

    @Test("a relay that says nothing is given up when the time is up")
    func timeout() async throws {
        let relay = try StubRelay(.silence)
        var client = relay.client
        client.timeout = .milliseconds(30)
        let error = await #expect(throws: RelayClientError.self) {
            try await client.request(.get, "/")
        }
        #expect(error?.code == .timedOut)
    }

    @Test("cancelling the task hangs up")
    func cancellation() async throws {
        let relay = try StubRelay(.silence)
        let task = Task { try await relay.client.request(.get, "/") }
        task.cancel()
        let error = await #expect(throws: RelayClientError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test("what is asked for somebody else ends when they have gone, before the head and in the body")
    func caller() throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
        for told in ["", head] {
            let relay = try StubRelay(.respond { _ in .stayOpen(told) })
            var ends: [Int32] = [0, 0]
            #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            defer { close(ends[0]) }
            // Their end closes once the request is there.
            let theirs = ends[1]
            try startDetachedThread("caller") {
                while relay.requests.isEmpty { _ = poll(nil, 0, 1) }
                _ = poll(nil, 0, 50)
                close(theirs)
            }
            let error = #expect(throws: RelayClientError.self) {
                let answer = try relay.client.blockingStream(.get, "/v1/events", unlessGone: ends[0])
                while try answer.next(within: .seconds(60)) != nil {}
            }
            #expect(error?.code == .cancelled, "\(String(describing: error))")
        }
    }

    @Test("requests beyond the client's places wait and are all answered")
    func places() async throws {
        let relay = try StubRelay(.answer(fine))
        let client = RelayClient(socketPath: relay.path, maxConcurrentRequests: 2)
        let answered = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 { group.addTask { try await client.request(.get, "/").status == 200 } }
            return try await group.reduce(into: 0) { count, isFine in count += isFine ? 1 : 0 }
        }
        #expect(answered == 40)
        #expect(relay.requests.count == 40)
    }
}
