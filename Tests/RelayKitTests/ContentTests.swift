import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("The content of a request", .timeLimit(.minutes(5)))
struct ContentTests {
    /// The request as it went out.
    private func sent(
        _ request: PlainRequest<HTTPResponse>,
        to base: String = "https://one.example/v1"
    ) async throws -> OutboundRequest {
        let bench = try ServiceBench([.answer(200)]) {
            if let upstream = try? Upstream(base) { $0.upstreams = [upstream] }
        }
        _ = try await bench.service.execute(request)
        return bench.transport.sent[0]
    }

    private func form(_ pairs: Pairs<String>) -> String? { Content.form(pairs).body.text }

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

    @Test("A form keeps the order of its pairs, and pairs that repeat", .clauses("T-59", "T-60", "T-63"))
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
        arguments: [("/v1", "/v1/"), ("/v1/", "/v1/"), ("", "/")],
        [("books", "books"), ("/books", "books"), ("books/", "books/"), ("", ""), ("?q=1", "?q=1")]
    )
    func join(base: (given: String, sent: String), target: (given: String, sent: String)) async throws {
        let outbound = try await sent(
            Request(.get, RequestPath(target.given)),
            to: "https://one.example" + base.given
        )
        #expect(outbound.target == base.sent + target.sent)
        #expect(outbound.upstream.origin.text == "https://one.example")
    }

    @Test(
        "Each kind of content brings its media type",
        .clauses("T-42", "T-46", "T-53", "T-57", "T-105", "T-106"),
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
            #expect(outbound.method.rawValue == method && outbound.text == words)
            #expect(outbound.fields.values(.contentType) == (type.map { [$0] } ?? []))
        }
    }

    @Test(
        "A request without content goes out once, as it is, with its fields in order and no media type",
        .clauses("T-01", "T-04", "T-40", "T-41", "T-105"),
        arguments: ["GET", "DELETE", "HEAD"]
    )
    func noContent(method: String) async throws {
        let request = PlainRequest<HTTPResponse>(
            Method(rawValue: method),
            "books/7",
            query: ["q": "1", "all": nil],
            headers: ["Accept": "a", "X-B": "b", "accept": "c"]
        )
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(request)
        let outbound = try #require(bench.transport.sent.first)
        #expect(bench.transport.sent.count == 1 && outbound.target == "/v1/books/7?q=1&all")
        #expect(outbound.method.rawValue == method && outbound.body.length == 0)
        #expect(
            outbound.fields.pairs.map { "\($0.name): \($0.value)" } == ["Accept: a", "X-B: b", "accept: c"]
        )
        if case .empty = outbound.body {} else { Issue.record("there is content") }
    }

    @Test(
        "A program that names no agent is told as the library, and one that does is left alone",
        arguments: [nil, "mine/1"]
    )
    func agent(own: String?) async throws {
        var request = Request.plain()
        if let own { request.http.fields.append("User-Agent", own) }
        let outbound = try await sent(request)
        #expect(outbound.allFields.values(.userAgent) == [own ?? Version.libraryUserAgent])
        #expect(outbound.addedFields.pairs.map(\.name) == (own == nil ? ["User-Agent"] : []))
    }

    @Test(
        "A header of the request's own wins over the content's, however it is spelt",
        .clauses("T-47", "T-106", "X-05"),
        arguments: ["Content-Type", "content-TYPE"]
    )
    func ownHeader(name: String) async throws {
        let type = "application/vnd.api+json"
        let request = PlainRequest<HTTPResponse>(.post, "books", headers: [name: type], content: .text("{}"))
        #expect(try await sent(request).fields.values(.contentType) == [type])
        #expect(try await sent(request.usingContent(.text("b"))).fields.values(.contentType) == [type])
    }

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw Misshapen(wanted: "nothing") }
    }

    @Test("A value that cannot be encoded is no content, and never a request")
    func unencodable() {
        #expect(throws: Misshapen.self) { try Content.json(Unencodable(), encoder: ShapeCoder()) }
    }

    @Test(
        "Uploaded bytes arrive whole, and every way to wait for the answer gives its content",
        .clauses("T-100", "T-102", "T-103")
    )
    func upload() async throws {
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        let bench = try ServiceBench([], answer: { _ in .answer(201, [], "stored") })
        let request = PlainRequest<HTTPResponse>(.put, "blob", content: .raw(bytes))
        #expect(try await bench.service.execute(request).text == "stored")
        #expect(await bench.run(request).value?.status == 201)
        let value = await bench.service.value(of: request, replacing: { _ in HTTPResponse(status: 500) })
        #expect(value.text == "stored")
        for await outcome in bench.service.outcomes(of: input([request])) {
            #expect(outcome.value?.text == "stored")
        }
        #expect(bench.transport.sent.count == 4)
        for sent in bench.transport.sent {
            guard case .bytes(let sent) = sent.body else {
                Issue.record("the content is gone")
                return
            }
            #expect(sent == bytes)
        }
    }
}
