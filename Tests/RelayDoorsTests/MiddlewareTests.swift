import RelayDoors
import RelayKit
import RelayTesting
import Synchronization
import Testing

@Suite("A middleware around a client's own sending", .timeLimit(.minutes(1)))
struct MiddlewareTests {
    private let time = VirtualTime()

    private func middleware(
        _ glue: StubGlue = StubGlue(),
        collecting limit: Int = 8,
        time: VirtualTime? = nil,
        credentials: [CredentialDefinition] = [],
        _ change: (inout RoutePolicy) -> Void = { $0.recovery = [.backoff(on: [503, .connection])] }
    ) throws -> RelayMiddleware<StubHead, StubBody, StubAnswer> {
        try RelayMiddleware(
            glue,
            collecting: limit,
            time: time ?? self.time,
            entropy: SeededEntropy(),
            credentials: credentials,
            policy: change
        )
    }

    @Test("A 503 that says when to come back is sent again then, and the caller sees one answer")
    func recovery() async throws {
        let client = StubClient(.answer(503, ["Retry-After": "2"]), .answer(200, ["ETag": "x"]))
        let answer = try await middleware().intercept(StubHead(headers: ["a": "b"]), .none, next: client.send)
        #expect(answer == StubAnswer(code: 200, headers: ["ETag": "x"]))
        #expect(time.waits == [.seconds(2)])
        #expect(client.sent.map(\.head.path) == ["/items/7?full=1", "/items/7?full=1"])
        // The client's request as it was: a middleware names nobody.
        #expect(client.sent.map(\.head.headers) == [["a": "b"], ["a": "b"]])
    }

    @Test("A 401 leads to one new token for all requests, and each is sent again with it")
    func refresh() async throws {
        let fetched = Mutex(0)
        let login = CredentialDefinition("login") {
            let number = fetched.withLock { count in
                count += 1
                return count
            }
            return AccessToken("t\(number)")
        }
        let relay = try middleware(credentials: [login]) { policy in
            policy.authentication = Authentication(form: .bearer, credential: "login")
            policy.recovery = [.reauthorize()]
        }
        let answers = try await withThrowingTaskGroup(of: UInt16.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await relay.intercept(StubHead(), .none) { head, _ in
                        StubAnswer(code: head.headers["authorization"] == "Bearer t1" ? 401 : 200)
                    }.code
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: 200, count: 10))
        #expect(fetched.withLock { $0 } == 2)
    }

    @Test("A client that fails without a word is asked again for what is safe, and never for what is not")
    func unknown() async throws {
        let relay = try middleware { $0.recovery = [.backoff(on: [.any])] }
        let get = StubClient(.fail(.broken), .answer(200))
        #expect(try await relay.intercept(StubHead(), .none, next: get.send).code == 200)
        let post = StubClient(.fail(.broken))
        await #expect(throws: StubError.broken) {
            try await relay.intercept(StubHead(verb: "POST"), .bytes([1]), next: post.send)
        }
        #expect(post.sent.count == 1)
        let keyed = StubClient(.fail(.broken), .answer(200))
        let head = StubHead(verb: "POST", headers: ["Idempotency-Key": "\"k\""])
        #expect(try await relay.intercept(head, .bytes([1]), next: keyed.send).code == 200)
        let marked = StubClient(.fail(.broken), .answer(200))
        let answer = try await relay.intercept(
            StubHead(verb: "POST"),
            .none,
            isRepeatable: true,
            next: marked.send
        )
        #expect(answer.code == 200)
    }

    @Test(
        "A request that the glue knows was never sent goes again, whatever its method",
        arguments: [true, false]
    )
    func neverSent(maps: Bool) async throws {
        let relay = try middleware(StubGlue(maps: maps)) { $0.recovery = [.backoff(on: [.any])] }
        let client = StubClient(.fail(.refused), .answer(201))
        let result = try? await relay.intercept(StubHead(verb: "POST"), .none, next: client.send)
        #expect(result?.code == (maps ? 201 : nil) && client.sent.count == (maps ? 2 : 1))
    }

    @Test(
        "Content that can be read once is sent again where it was collected, and once where it is too large",
        arguments: [(8, 2), (9, 1)]
    )
    func body(size: Int, attempts: Int) async throws {
        let client = StubClient(.answer(503, ["Retry-After": "1"]), .answer(200))
        let bytes = [UInt8](repeating: 7, count: size)
        let answer = try await middleware().intercept(StubHead(verb: "PUT"), .once(bytes), next: client.send)
        #expect(answer.code == (attempts == 2 ? 200 : 503))
        #expect(client.sent.count == attempts)
        for (_, body) in client.sent {
            guard case .bytes(let sent) = body else {
                #expect(attempts == 1)
                continue
            }
            #expect(sent == bytes)
        }
    }

    @Test("Cancelling the task cancels the client, and asks no rule")
    func cancelled() async throws {
        let relay = try middleware { $0.recovery = [.backoff(on: [.any])] }
        let client = StubClient(.silence)
        let (began, begun) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await relay.intercept(StubHead(), .none) { head, body in
                begun.yield()
                return try await client.send(head, body)
            }
        }
        for await _ in began { break }
        task.cancel()
        let result = await task.result
        #expect(throws: (any Error).self) { try result.get() }
        #expect(client.sent.count == 1 && time.waits == [])
    }

    @Test(
        "A request that is cancelled while its token is fetched ends at once, and the fetch goes on without it"
    )
    func cancelledInFetch() async throws {
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let login = CredentialDefinition("login") {
            ask.yield()
            for await _ in released {}
            return AccessToken("t")
        }
        let relay = try middleware(credentials: [login]) { policy in
            policy.authentication = Authentication(form: .bearer, credential: "login")
        }
        let client = StubClient(.answer(200))
        let task = Task { try await relay.intercept(StubHead(), .none, next: client.send) }
        for await _ in asked { break }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(client.sent.isEmpty)
        release.finish()
        let answer = try await relay.intercept(StubHead(), .none, next: client.send)
        #expect(answer.code == 200 && client.sent[0].head.headers["authorization"] == "Bearer t")
    }

    @Test("A client that is silent is cancelled when the attempt's time is up, and asked again")
    func late() async throws {
        let time = VirtualTime(.manual)
        let relay = try middleware(time: time) { policy in
            policy.timeouts.attempt = .seconds(5)
            policy.recovery = [
                .backoff(on: [.timeout], maxAttempts: 2, Backoff(schedule: .constant(.zero), jitter: .none))
            ]
        }
        let client = StubClient(.silence, .answer(200))
        let (began, begun) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await relay.intercept(StubHead(), .none) { head, body in
                begun.yield()
                return try await client.send(head, body)
            }
        }
        var attempts = began.makeAsyncIterator()
        await attempts.next()
        time.advance(by: .seconds(6))
        await attempts.next()
        #expect(try await task.value.code == 200)
    }

    @Test("A head that is handed on ends recovery, and one that is a failure reaches the caller as it came")
    func handedOn() async throws {
        let client = StubClient(.answer(404, ["x": "y"]))
        let answer = try await middleware().intercept(StubHead(), .none, next: client.send)
        #expect(answer == StubAnswer(code: 404, headers: ["x": "y"]) && client.sent.count == 1)
    }

    @Test("A breaker that opens stops the next request before the client sees it")
    func breaker() async throws {
        let relay = try middleware { policy in
            policy.recovery = []
            policy.timeouts.total = .seconds(5)
        }
        var error: (any Error)?
        var sent = 0
        for _ in 0..<200 where error == nil {
            do {
                _ = try await relay.intercept(StubHead(), .none) { _, _ in throw StubError.refused }
            } catch let found as Failure {
                error = found
            } catch {
                sent += 1
            }
        }
        #expect((error as? Failure)?.kind == .breakerOpen && sent < 200)
    }

    @Test(
        "A rule's response is an answer of the client where the glue can make one",
        arguments: [true, false]
    )
    func response(makes: Bool) async throws {
        let relay = try middleware(StubGlue(makesAnswers: makes)) { policy in
            policy.recovery = [.placeholder(CannedAnswer(bytes: Array("none".utf8)))]
        }
        let client = StubClient(.fail(.broken))
        let answer = try? await relay.intercept(StubHead(), .none, next: client.send)
        #expect(answer?.text == (makes ? "none" : nil))
    }

    @Test(
        "A strategy's request that is not the client's is not sent, nor the client's in its place",
        arguments: [
            HTTPRequest(method: .get, target: "items/7?full=1"),
            HTTPRequest(method: .post, target: "items/8"),
            HTTPRequest(method: .post, target: "items/7?full=1", body: .bytes([1])),
        ]
    )
    func another(request: HTTPRequest) async throws {
        let relay = try middleware { policy in
            policy.recovery = [.strategy(Another(request: request), on: [503])]
        }
        let client = StubClient(.answer(503), .answer(200))
        let failure = await #expect(throws: Failure.self) {
            try await relay.intercept(
                StubHead(verb: "POST"),
                .bytes([2]),
                isRepeatable: true,
                next: client.send
            )
        }
        #expect(failure?.kind == .preparation)
        #expect(failure?.detail.hasPrefix("a middleware sends its client's request") == true)
        #expect(client.sent.count == 1)
    }

    @Test("An answer that the relay's own failure followed is not handed on in its place")
    func stale() async throws {
        let fetched = Mutex(0)
        let login = CredentialDefinition("login") {
            let isFirst = fetched.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { throw StubError.refused }
            return AccessToken("t")
        }
        let relay = try middleware(credentials: [login]) { policy in
            policy.authentication = Authentication(form: .bearer, credential: "login")
            policy.recovery = [.reauthorize()]
        }
        let client = StubClient(.answer(401), .answer(200))
        let failure = await #expect(throws: Failure.self) {
            try await relay.intercept(StubHead(), .none, next: client.send)
        }
        #expect(failure?.kind == .credentialsFailed && client.sent.count == 1)
    }

    @Test("A policy that looks into content, or sends elsewhere, is refused", arguments: 0..<12)
    func refused(number: Int) throws {
        let light = try LightRequest(path: "small")
        let refusal = #expect(throws: Refusal.self) {
            try middleware { policy in
                switch number {
                case 0: policy.response.expectsJSON = true
                case 1: policy.response.unwrap = "/data"
                case 2: policy.response.keepsLastGood = LastGoodRule(maxAge: .seconds(60))
                case 3: policy.response.empty = .error
                case 4: policy.response.redirects = .follow
                case 5: policy.constrained = .wait
                case 6: policy.lightRequest = light
                case 7: policy.signing = SigningSettings(secrets: [])
                case 8: policy.request.query = RouteQuery([("a", .text("b"))])
                case 9: policy.request.wrap = "/data"
                case 10: policy.quickRecovery = [QuickRecoveryRule(on: [.any], status: 200)]
                default: policy.upstreams.append(policy.upstreams[0])
                }
            }
        }
        #expect(refusal?.message.hasPrefix("a middleware ") == true)
    }
}

/// Asks for one and the same request after every failure.
private struct Another: RecoveryStrategy {
    let request: HTTPRequest

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        .retry(self.request)
    }
}
