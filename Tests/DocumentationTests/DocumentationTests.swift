import RelayKit
import RelayTesting
import Synchronization
import Testing

@Suite("The articles' examples do what the articles say", .timeLimit(.minutes(1)))
struct DocumentationTests {
    @Test("The client that is left behind logs in and sends again")
    func before() async throws {
        let backend = Backend(
            repairs: [LogInAgain { "new" }],
            send: { call in
                guard call.token == "new" else { throw Refused(status: 401) }
                return [1]
            }
        )
        #expect(try await backend.execute(Call(path: "books/7")) { $0.count } == 1)
    }

    @Test("A 401 leads to one login and the book, whatever else fails on the way")
    func book() async throws {
        let script = ScriptedTransport(
            .answer(401),
            .answer(503),
            .answer(200, [:], #"{"data": {"id": 7, "title": "Emma"}}"#)
        )
        let logins = Mutex(0)
        let credential = CredentialDefinition.login {
            logins.withLock { count in
                count += 1
                return "token \(count)"
            }
        }
        let service = try service(script, .books(), credentials: [credential])
        let outcome = await service.outcome(of: .book(7))
        #expect(try outcome.result.get() == Book(id: 7, title: "Emma"))
        #expect(outcome.recoveredBy == ["reauthorize", "backoff"] && logins.withLock { $0 } == 2)
        #expect(script.sent.map(\.target) == Array(repeating: "/api/v1/books/7", count: 3))
    }

    @Test("A strategy of the program's own sends another request")
    func moved() async throws {
        var policy = RoutePolicy(upstreams: [try Upstream("https://books.example/")])
        policy.recovery = [.strategy(FollowTheMove(), on: [410])]
        let script = ScriptedTransport(.answer(410, ["Book-Moved-To": "8"]), .answer(200))
        _ = try await service(script, policy).execute(Request(.get, "books/7"))
        #expect(script.sent.map(\.target) == ["/books/7", "/books/8"])
    }

    @Test("A redirect that is wanted is a success")
    func redirect() async throws {
        let script = ScriptedTransport(.answer(302, ["Location": "https://shop.example/7"]))
        let policy = RoutePolicy(upstreams: [try Upstream("https://books.example/")])
        #expect(try await service(script, policy).execute(.shop(of: 7)) == "https://shop.example/7")
    }

    @Test("A 200 that complains is the program's own error")
    func complaint() async throws {
        let script = ScriptedTransport(.answer(200, [:], #"{"code": "sold out"}"#), .answer(410))
        let policy = RoutePolicy(upstreams: [try Upstream("https://books.example/")])
        let service = try service(script, policy)
        let request = Request.book(7).rejectingComplaints().throwing(BookError.self)
        for expected in [BookError.complained("sold out"), .gone] {
            await #expect(throws: expected) { try await service.execute(request) }
        }
    }

    @Test("A server's error is recognised on any status, and an observer hears of it")
    func serverErrors() async throws {
        let body = #"{"error": {"code": "token_invalid", "title": "Log in"}}"#
        let script = ScriptedTransport(
            .answer(200, [:], body),
            .answer(500, [:], body),
            .answer(500, [:], "oops")
        )
        let logOuts = Mutex(0)
        var policy = try RoutePolicy.shop()
        policy.recovery = []
        let service = try service(
            script,
            policy,
            observers: [LogOutWatcher { logOuts.withLock { $0 += 1 } }]
        )
        let request = PriceOf(article: 3).request
        let expired = ShopFailure.server(ShopError(code: "token_invalid", title: "Log in"))
        for expected in [expired, expired, .status(500)] {
            await #expect(throws: expected) { try await service.execute(request) }
        }
        #expect(logOuts.withLock { $0 } == 2)
        #expect(script.sent[0].target == "/api/prices?article=3")
    }

    @Test("The last good price is shown as an old one while the shop is away")
    func stale() async throws {
        let script = ScriptedTransport(
            .answer(200, [:], #"{"data": {"cents": 250}}"#),
            .fail(.connectionRefused, .neverSent),
            .fail(.connectionRefused, .neverSent)
        )
        let service = try service(script, .shop())
        let question = PriceOf(article: 3)
        guard case .fresh(Price(cents: 250)) = await service.show(question),
            case .old(Price(cents: 250)) = await service.show(question)
        else {
            Issue.record("not fresh, then old")
            return
        }
        #expect(script.sent.count == 3)
    }

    @Test("A price stays on the screen while it is asked for again and when that fails")
    func screen() async throws {
        let script = ScriptedTransport(.answer(200, [:], #"{"data": {"cents": 250}}"#), .answer(404))
        let tag = PriceTag(article: 3, from: try service(script, .shop()))
        var lines: [String] = []
        await tag.show { line in
            lines.append(line)
            if line == "no price" || line == "250 cents" { tag.reload() }
            return line.hasSuffix("out of reach")
        }
        // A line that says "asking" may be overtaken by the answer.
        #expect(
            lines.filter { !$0.hasSuffix("asking") } == ["no price", "250 cents", "250 cents, out of reach"]
        )
    }

    @Test("An order is a form, and needs no content in the answer")
    func order() async throws {
        let script = ScriptedTransport(.answer(204))
        try await service(script, .shop()).execute(Order(article: 3).request)
        #expect(script.sent[0].method == .post)
        #expect(script.sent[0].fields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test("A 404 is final")
    func final() async throws {
        let script = ScriptedTransport(.answer(404))
        let outcome = try await service(script, .rates()).outcome(of: Request(.get, "usd"))
        #expect(outcome.stoppedBy == "fail" && script.sent.count == 1)
    }

    @Test(
        "A strategy waits as long as the upstream says",
        arguments: [("2", [Duration.seconds(2)]), ("99", [])]
    )
    func reset(seconds: String, waits: [Duration]) async throws {
        var policy = RoutePolicy(upstreams: [try Upstream("https://rates.example/")])
        policy.recovery = [.strategy(WaitForTheReset(), on: [429])]
        let script = ScriptedTransport(.answer(429, ["X-RateLimit-Reset": seconds]), .answer(200))
        let time = VirtualTime()
        _ = try await service(script, policy, time: time).outcome(of: Request(.get, "usd"))
        #expect(time.waits == waits && script.sent.count == waits.count + 1)
    }

    @Test("A stream counts what was lost and goes on")
    func readings() async throws {
        let policy = RoutePolicy(upstreams: [try Upstream("https://readings.example/")])
        let service = try service(ScriptedTransport(.answer(204), .answer(500), .answer(204)), policy)
        let readings = AsyncStream { continuation in
            for number in 1...3 {
                continuation.yield(
                    Request(.post, "readings", content: .text("\(number)")) as PlainRequest<Void>
                )
            }
            continuation.finish()
        }
        #expect(await report(readings, to: service) == (2, 1))
    }

    @Test("Titles come in order, with a stand-in for the one that failed")
    func inOrder() async throws {
        let policy = RoutePolicy(upstreams: [try Upstream("https://titles.example/")])
        let service = try service(
            ScriptedTransport(.answer(200, [:], "x"), .answer(500), .answer(200, [:], "x")),
            policy
        )
        #expect(await titles(of: [1, 2, 3], from: service).sorted() == ["unknown", "x", "x"])
    }

    @Test("The last text that was typed is looked up")
    func typing() async throws {
        let policy = RoutePolicy(upstreams: [try Upstream("https://suggest.example/")])
        let service = try service(ScriptedTransport(.answer(200, [:], "swift")), policy)
        let texts = AsyncStream { continuation in
            continuation.yield("sw")
            continuation.finish()
        }
        #expect(await suggestions(for: texts, from: service) == ["swift"])
    }
}
