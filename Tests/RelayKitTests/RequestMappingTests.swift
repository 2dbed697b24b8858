import RelayKit
import RelayTestSupport
import Testing

@Suite("The message that goes out for a request", .timeLimit(.minutes(5)))
struct RequestMappingTests {
    private let accept = FieldName.accept

    @Test("Times are the policy's unless the request wants shorter ones", .clauses("T-43"))
    func defaults() async throws {
        let request = Request.plain()
        #expect(request.options.timeout == nil && request.options.attemptTimeout == nil)
        #expect(request.options.maxAttempts == nil && request.options.allowsFallback)
        for (timeout, attemptTimeout, seconds) in [
            (nil, nil, 10), (nil, .seconds(3), 3), (.seconds(1), nil, 1), (nil, .seconds(60), 10),
        ] as [(Duration?, Duration?, Int64)] {
            var limited = request
            (limited.options.timeout, limited.options.attemptTimeout) = (timeout, attemptTimeout)
            let bench = try ServiceBench([.answer(200)])
            _ = try await bench.service.execute(limited)
            let sent = bench.transport.sent[0]
            #expect(sent.deadline == Instant(nanoseconds: seconds * 1_000_000_000))
            #expect(sent.timeouts.connect == .seconds(2) && sent.timeouts.idle == .seconds(10))
        }
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
            PlainRequest<HTTPResponse>(.get, "x", headers: [name: value]),
            Request.plain().addingHeaders([name: value]).map { $0 },
            Request.plain().usingHeaders([name: value]).addingHeaders(["X-Good": "1"]),
        ] {
            let failure = try #require(await bench.failure(of: request))
            #expect(failure.kind == .preparation && !failure.detail.contains("secret"))
        }
        #expect(bench.transport.sent.isEmpty)
    }

    private let base = PlainRequest<HTTPResponse>(
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

    @Test("A map may look at the exchange the value came from", .clauses("T-49"))
    func mapSeesExchange() async throws {
        let bench = try ServiceBench([
            .answer(201, [("Location", "r/7")], "soup"), .answer(200, [], #"{"title":"soup"}"#),
        ])
        let request = Request.plain().map { response, success in
            "\(success.request.target) \(success.response.status.rawValue) \(response.fields[.location] ?? "")"
        }
        #expect(try await bench.service.execute(request) == "x 201 r/7")
        let (book, exchange) = try await bench.service.execute(Request.book("r/7").withTransportSuccess())
        #expect(book.title == "soup" && exchange.request.target == "r/7" && exchange.response.status == .ok)
    }
}
