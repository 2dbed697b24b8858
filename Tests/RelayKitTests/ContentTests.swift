import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("The content of a request", .timeLimit(.minutes(5)))
struct ContentTests {
    /// The request as it went out.
    private func sent(
        _ request: Request<HTTPResponse>,
        to base: String = "https://one.example/v1"
    ) async throws
        -> OutboundRequest
    {
        let bench = try ServiceBench([.answer(200)]) {
            if let upstream = try? Upstream(base) { $0.upstreams = [upstream] }
        }
        _ = try await bench.service.execute(request)
        return bench.transport.sent[0]
    }

    private func form(_ pairs: Pairs<String>) -> String {
        guard case .bytes(let bytes) = Content.form(pairs).body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "A form's names and values are written so that nothing in them divides the form",
        .clauses("T-60", "T-61", "T-62", "T-63"),
        arguments: [
            ("a b", "a+b"), ("a&b", "a%26b"), ("a=b", "a%3Db"), ("a+b", "a%2Bb"), ("a/b?c", "a%2Fb%3Fc"),
            ("%", "%25"), ("~", "%7E"), ("-._*", "-._*"), ("AZaz09", "AZaz09"), ("\u{E9}", "%C3%A9"),
            ("\u{1F4D6}", "%F0%9F%93%96"), ("", ""), ("\0", "%00"), ("a\nb", "a%0D%0Ab"),
            ("a\r\nb", "a%0D%0Ab"),
            ("a\rb", "a%0D%0Ab"), ("\r\r\n\n", "%0D%0A%0D%0A%0D%0A"),
        ]
    )
    func formText(text: String, encoded: String) {
        #expect(form([text: text]) == "\(encoded)=\(encoded)")
    }

    @Test("A form keeps the order of its pairs, and pairs that repeat", .clauses("T-60", "T-63"))
    func formOrder() {
        #expect(form(["z": "1", "a": "2", "z": "3", "": "", "a": "2"]) == "z=1&a=2&z=3&=&a=2")
        #expect(form([:]) == "")
    }

    @Test(
        "A query is appended to a path with none, with one, or with an empty one",
        .clauses("T-64", "T-65", "T-66", "T-105"),
        arguments: [
            ("books", [:], "books"), ("books?a=1", [:], "books?a=1"),
            ("books", ["q": "x"], "books?q=x"), ("books?a=1", ["q": "x"], "books?a=1&q=x"),
            ("books?", ["q": "x"], "books?q=x"), ("books", ["b": nil], "books?b"),
            ("books", ["q": ""], "books?q="), ("books", ["z": "1", "a": nil, "z": "2"], "books?z=1&a&z=2"),
            ("books", ["a b&c": "d=e/f?+"], "books?a%20b%26c=d%3De%2Ff%3F%2B"),
            ("/books", ["q": "#"], "books?q=%23"),
        ] as [(String, Pairs<String?>, String)]
    )
    func query(path: String, query: Pairs<String?>, target: String) async throws {
        #expect(try await sent(Request(.get, RequestPath(path), query: query)).target == "/v1/" + target)
    }

    @Test(
        "A target is joined to the upstream's base with exactly one slash",
        .clauses("T-104"),
        arguments: ["https://one.example/v1", "https://one.example/v1/"],
        [
            ("books", "/v1/books"), ("/books", "/v1/books"), ("books/", "/v1/books/"), ("", "/v1/"),
            ("?q=1", "/v1/?q=1"),
        ]
    )
    func join(base: String, target: (given: String, sent: String)) async throws {
        let request = Request<HTTPResponse>(
            .get,
            RequestPath(target.given),
            headers: ["X-One": "1", "x-one": "2"]
        )
        let outbound = try await sent(request, to: base)
        #expect(outbound.target == target.sent && outbound.upstream.origin.text == "https://one.example")
        #expect(outbound.fields.pairs.map(\.name) == ["X-One", "x-one"])
        #expect(outbound.fields.pairs.map(\.value) == ["1", "2"])
    }

    @Test("Without a path in its base an upstream is asked below its root", .clauses("T-104"))
    func root() async throws {
        #expect(try await sent(Request(.get, "books"), to: "https://one.example").target == "/books")
    }

    @Test(
        "Each kind of content brings its media type",
        .clauses("T-105", "T-106"),
        arguments: ["POST", "PUT", "PATCH"]
    )
    func kinds(method: String) async throws {
        let book = Book(title: "T")
        let kinds: [(Content, String, String?)] = [
            (try .json(book, encoder: ShapeCoder()), #"{"title":"T"}"#, "application/json"),
            (.form(["a": "b c"]), "a=b+c", "application/x-www-form-urlencoded"),
            (.text("plain \u{E9}"), "plain \u{E9}", "text/plain; charset=utf-8"),
            (.text("<p>", mediaType: "text/html"), "<p>", "text/html"),
            (.raw(Array("raw".utf8)), "raw", "application/octet-stream"),
            (.raw([0x50], mediaType: "image/png"), "P", "image/png"),
            (Content(.bytes([0x51])), "Q", nil),
        ]
        for (content, words, type) in kinds {
            let outbound = try await sent(Request(Method(rawValue: method), "books", content: content))
            #expect(outbound.method.rawValue == method && outbound.words == words)
            #expect(outbound.fields.values(.contentType) == (type.map { [$0] } ?? []))
        }
    }

    @Test(
        "A request without content says nothing of a media type",
        .clauses("T-105"),
        arguments: ["GET", "DELETE", "HEAD"]
    )
    func noContent(method: String) async throws {
        let outbound = try await sent(Request(Method(rawValue: method), "books/7", query: ["q": "1"]))
        #expect(outbound.target == "/v1/books/7?q=1" && outbound.fields.isEmpty && outbound.words == "")
        if case .empty = outbound.body {} else { Issue.record("there is content") }
    }

    @Test("A header of the request's own wins over the content's, however it is spelt", .clauses("T-106"))
    func ownHeader() async throws {
        let request = Request<HTTPResponse>(
            .post,
            "books",
            headers: ["content-TYPE": "application/vnd.api+json"],
            content: .text("{}")
        )
        #expect(try await sent(request).fields.values(.contentType) == ["application/vnd.api+json"])
    }

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw Misshapen(wanted: "nothing") }
    }

    @Test("A value that cannot be encoded is no content, and never a request")
    func unencodable() {
        #expect(throws: Misshapen.self) { try Content.json(Unencodable(), encoder: ShapeCoder()) }
    }

    @Test(
        "Uploaded bytes arrive whole, and the answer's content comes back",
        .clauses("T-100", "T-102", "T-103")
    )
    func upload() async throws {
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        let bench = try ServiceBench([.answer(201, [], "stored")])
        let answer = try await bench.service.execute(Request(.put, "blob", content: .raw(bytes)))
        #expect(answer.words == "stored" && answer.status == 201)
        guard case .bytes(let sent) = bench.transport.sent[0].body else {
            Issue.record("the content is gone")
            return
        }
        #expect(sent == bytes)
    }

    @Test("Every way to wait for an answer gives the same", .clauses("T-103"))
    func waysToWait() async throws {
        let bench = try ServiceBench([], answer: { _ in .answer(200, [], "same") })
        let request = Request<HTTPResponse>(.get, "x")
        #expect(try await bench.service.execute(request).words == "same")
        #expect(await bench.service.outcome(of: request).gave?.words == "same")
        #expect(
            await bench.service.value(of: request, replacing: { _ in HTTPResponse(status: 500) }).words
                == "same"
        )
        let input = AsyncStream { continuation in
            continuation.yield(request)
            continuation.finish()
        }
        for await outcome in bench.service.outcomes(of: input) { #expect(outcome.gave?.words == "same") }
        #expect(bench.transport.sent.count == 4)
    }
}
