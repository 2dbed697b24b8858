import RelayKit
import RelayTestSupport
import Testing

@Suite("The message that goes out for a request", .timeLimit(.minutes(5)))
struct RequestMappingTests {
    private func sent<Response>(
        _ request: Request<Response>,
        policy: (inout RoutePolicy) -> Void = { _ in }
    ) async throws -> OutboundRequest {
        let bench = try ServiceBench([.answer(200, [], "{}")], policy: policy)
        _ = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == 1)
        return try #require(bench.transport.sent.first)
    }

    private let accept = FieldName.accept

    @Test("A plain GET goes out once, as it is", .clauses("T-40", "T-04", "T-01"))
    func plain() async throws {
        let sent = try await sent(Request<HTTPResponse>(.get, "recipes", query: ["page": "2", "all": nil]))
        #expect(sent.method == .get && sent.target == "/v1/recipes?page=2&all")
        #expect(sent.fields.isEmpty && sent.body.length == 0)
        // The library names itself as the sender where the program says nothing.
        #expect(sent.addedFields.pairs.map(\.name) == ["User-Agent"])
    }

    @Test("Headers go out in their order, repeated ones too", .clauses("T-41"))
    func headers() async throws {
        let request = Request<HTTPResponse>(.get, "x", headers: ["Accept": "a", "X-B": "b", "Accept": "c"])
        let sent = try await sent(request)
        #expect(sent.fields.pairs.map { "\($0.name): \($0.value)" } == ["Accept: a", "X-B: b", "Accept: c"])
    }

    @Test("A POST carries its content and the content's media type", .clauses("T-42", "T-46"))
    func content() async throws {
        let sent = try await sent(Request<HTTPResponse>(.post, "x", content: .text("hello")))
        #expect(sent.method == .post && sent.body.text == "hello")
        #expect(sent.fields[.contentType] == "text/plain; charset=utf-8")
    }

    @Test("A header wins over the content's media type, whatever its case", .clauses("T-47", "X-05"))
    func explicitType() async throws {
        let request = Request<HTTPResponse>(
            .post,
            "x",
            headers: ["content-TYPE": "text/soup"],
            content: .text("hello")
        )
        let sent = try await sent(request)
        #expect(sent.fields.values(.contentType) == ["text/soup"])
    }

    @Test("Times are the policy's unless the request wants shorter ones", .clauses("T-43"))
    func defaults() async throws {
        let request = Request.plain()
        #expect(request.options.timeout == nil && request.options.attemptTimeout == nil)
        #expect(request.options.maxAttempts == nil && request.options.allowsFallback)
        let ordinary = try await sent(request)
        #expect(ordinary.deadline == Instant(nanoseconds: 10_000_000_000))
        #expect(ordinary.timeouts.connect == .seconds(2) && ordinary.timeouts.idle == .seconds(10))

        var tighter = request
        tighter.options.attemptTimeout = .seconds(3)
        #expect(try await sent(tighter).deadline == Instant(nanoseconds: 3_000_000_000))
        var shorter = request
        shorter.options.timeout = .seconds(1)
        #expect(try await sent(shorter).deadline == Instant(nanoseconds: 1_000_000_000))
        var looser = request
        looser.options.attemptTimeout = .seconds(60)
        #expect(try await sent(looser).deadline == Instant(nanoseconds: 10_000_000_000))
    }

    @Test(
        "A header that no message can carry is a failure with nothing sent, not a header left out",
        arguments: [
            ("Authorization", "Bearer secret\r\n"), ("X-A", "1\nX-B: 2"), ("X-A", "\0"), ("X A", "secret"),
            ("", "secret"),
        ]
    )
    func badHeader(name: String, value: String) async throws {
        let bench = try ServiceBench([.answer(200)])
        for request in [
            Request<HTTPResponse>(.get, "x", headers: [name: value]),
            Request.plain().addingHeaders([name: value]).map { $0 },
            Request.plain().usingHeaders([name: value]).addingHeaders(["X-Good": "1"]),
        ] {
            let failure = try #require(await bench.failure(of: request))
            #expect(failure.kind == .preparation && !failure.detail.contains("secret"))
        }
        #expect(bench.transport.sent.isEmpty)
    }

    private let base = Request<HTTPResponse>(
        .post,
        "orders",
        query: ["a": "1"],
        headers: ["Accept": "text/soup"],
        content: .raw([1, 2], mediaType: "app/two")
    )

    @Test("Other content leaves method, target and headers as they were", .clauses("T-44"))
    func usingContent() {
        let changed = base.usingContent(.text("new")).http
        #expect(changed.method == .post && changed.target == "orders?a=1" && changed.body.text == "new")
        #expect(changed.fields[accept] == "text/soup")
        #expect(changed.fields.values(.contentType) == [MediaType.plainText])
        let named = base.addingHeaders(["Content-Type": "text/mine"]).usingContent(.text("new")).http
        #expect(named.fields.values(.contentType) == ["text/mine"])
        #expect(!base.usingContent(.none).http.fields.contains(.contentType))
    }

    @Test("Other headers leave method, target and content as they were", .clauses("T-44"))
    func usingHeaders() {
        let changed = base.usingHeaders(["X-Only": "1"]).http
        #expect(
            changed.fields.pairs.map { "\($0.name): \($0.value)" } == ["X-Only: 1", "Content-Type: app/two"]
        )
        let typed = base.usingHeaders(["content-type": "text/mine"]).http
        #expect(typed.fields.pairs.map(\.value) == ["text/mine"])
        #expect(changed.method == .post && changed.target == "orders?a=1" && changed.body.length == 2)
    }

    @Test("Another target leaves method, headers and content as they were", .clauses("T-44"))
    func usingTarget() {
        let changed = base.usingTarget("/other", query: ["b": "2"]).http
        #expect(changed.target == "other?b=2" && changed.method == .post && changed.body.length == 2)
        #expect(changed.fields.pairs.map(\.value) == ["text/soup", "app/two"])
    }

    @Test("Added headers join the others, and win over one of the same name in any case", .clauses("T-45"))
    func adding() {
        let changed = base.addingHeaders(["accept": "text/cake", "X-More": "1"])
        #expect(changed.http.fields.values(accept) == ["text/cake"] && changed.http.fields.count == 3)
        #expect(base.http.fields[accept] == "text/soup" && base.http.fields.count == 2)
        #expect(Request.plain().addingHeaders(["X-More": "1"]).http.fields.pairs.map(\.value) == ["1"])
    }

    @Test("A map runs once, after a success, and not for the attempts before it", .clauses("T-49"))
    func mapAfterSuccess() async throws {
        let log = CallLog()
        let bench = try ServiceBench([.answer(503), .answer(200, [], "soup")]) { $0.recovery = [.again()] }
        let request = Request.plain().map { response in
            log.note("mapped")
            return (response.text ?? "").count
        }
        #expect(try await bench.service.execute(request) == 4)
        #expect(log.lines == ["mapped"])
    }

    @Test("A map may look at the exchange the value came from", .clauses("T-49"))
    func mapSeesExchange() async throws {
        let bench = try ServiceBench([
            .answer(201, [("Location", "r/7")], "soup"), .answer(200, [], #"{"title":"soup"}"#),
        ])
        let request = Request.plain().map { response, success in
            "\(success.request.target) \(success.response.status.rawValue) \(response.fields[.location] ?? "")"
        }
        #expect(try await bench.service.execute(request) == "x 201 r/7")
        let (recipe, exchange) = try await bench.service.execute(Request.recipe("r/7").withTransportSuccess())
        #expect(recipe.title == "soup" && exchange.request.target == "r/7" && exchange.response.status == .ok)
    }

    @Test("When the inner transform fails, the map does not run", .clauses("T-49"))
    func innerFails() async throws {
        let bench = try ServiceBench([.answer(200, [], "<html>"), .answer(404)])
        let request = Request.recipe().map { recipe in
            Issue.record("mapped \(recipe)")
            return 1
        }
        #expect(await bench.failure(of: request)?.kind == .decoding)
        #expect(await bench.failure(of: request)?.status == 404)
    }

    @Test("An error a map throws is a failure like a decoder's", .clauses("T-49", "G3-05"))
    func mapThrows() async throws {
        let bench = try ServiceBench([.answer(200)])
        let request = Request.plain().map { _ -> Int in throw RecipeProblem(code: "burnt") }
        let failure = await bench.failure(of: request)
        #expect(
            failure?.kind == .decoding
                && failure?.underlying as? RecipeProblem == RecipeProblem(code: "burnt")
        )
    }
}
