import RelayBase
import RelayClient
import Synchronization
import Testing

@Suite("A client's bounds and its end", .timeLimit(.minutes(5)))
struct ShutdownTests {
    private static let fine = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    private let relay: StubRelay

    init() throws { relay = try StubRelay(.respond { _ in .stayOpen("") }) }

    /// Begins a request that the relay has seen and not answered.
    private func held(_ client: RelayClient) async -> Task<RelayResponse, any Error> {
        let count = relay.requests.count
        let task = Task { try await client.send(route: "a") }
        await relay.received(count + 1)
        return task
    }

    private func brief(_ client: RelayClient) -> RelayClient {
        var client = client
        client.timeout = .milliseconds(20)
        return client
    }

    private func ask(
        _ call: String,
        _ client: RelayClient,
        within patience: Duration = .milliseconds(20)
    ) async throws(RelayClientError) {
        switch call {
        case "send": _ = try await client.send(route: "b")
        case "stream": _ = try await client.stream(route: "b")
        default: try await client.keep(route: "b", key: "k", within: patience)
        }
    }

    @Test("A request beyond the places and the line is refused, and nothing of it was sent")
    func bounded() async throws {
        let client = RelayClient(socketPath: relay.path, maxConcurrentRequests: 1, maxWaitingRequests: 0)
        let first = await held(client)
        let error = await #expect(throws: RelayClientError.self) { try await client.send(route: "b") }
        #expect(error?.code == .tooManyRequests && error?.sent == .neverSent)
        relay.tell(Self.fine)
        #expect(try await first.value.text == "hello")
        #expect(relay.requests.count == 1)
        // There is a place again.
        let second = await held(client)
        relay.tell(Self.fine)
        #expect(try await second.value.text == "hello")
    }

    @Test(
        "A request whose time is up before there is a place leaves the line then, and nothing of it was sent",
        arguments: ["send", "stream", "keep"]
    )
    func late(call: String) async throws {
        let client = RelayClient(socketPath: relay.path, maxConcurrentRequests: 1, maxWaitingRequests: 1)
        let first = await held(client)
        let hasty = brief(client)
        // Each finds the line empty, in which there is one place.
        for _ in 0..<2 {
            let error = await #expect(throws: RelayClientError.self) { try await ask(call, hasty) }
            #expect(error?.code == .timedOut && error?.sent == .neverSent)
        }
        relay.tell(Self.fine)
        #expect(try await first.value.text == "hello")
        #expect(relay.requests.count == 1)
    }

    @Test(
        "A request that is cancelled while it waits in the line gives its place to another, and was never sent",
        arguments: ["send", "stream", "keep"]
    )
    func cancelledInLine(call: String) async throws {
        let client = RelayClient(socketPath: relay.path, maxConcurrentRequests: 1, maxWaitingRequests: 1)
        let first = await held(client)
        // Its turns come one after the other: what is asked next finds the request where it waits.
        let caller = Caller()
        let waiting = await caller.begin { try await ask(call, client, within: .seconds(3_600)) }
        #expect(await caller.ask { client.waitingRequests } == 1)
        let refused = await #expect(throws: RelayClientError.self) { try await client.send(route: "c") }
        #expect(refused?.code == .tooManyRequests)
        waiting.cancel()
        let result = await waiting.result
        let error = #expect(throws: RelayClientError.self) { try result.get() }
        #expect(error?.code == .cancelled && error?.sent == .neverSent)
        try #require(client.waitingRequests == 0)
        let next = await caller.begin { _ = try await client.send(route: "c") }
        #expect(await caller.ask { client.waitingRequests } == 1)
        relay.tell(Self.fine)
        #expect(try await first.value.text == "hello")
        await relay.received(2)
        relay.tell(Self.fine)
        try await next.value
        #expect(relay.requests.allSatisfy { !$0.hasPrefix("GET /r/b/") })
    }

    @Test("A shutdown lets what is under way end, and refuses what comes after it began")
    func graceful() async throws {
        let client = RelayClient(socketPath: relay.path)
        let first = await held(client)
        // A reader of events ends as the shutdown begins.
        let events = Task { for try await _ in client.events() {} }
        await relay.received(2)
        let end = Task { await client.shutdown(within: .seconds(3_600)) }
        _ = await events.result
        let refusal = await #expect(throws: RelayClientError.self) { try await client.send(route: "b") }
        #expect(refusal?.code == .shutDown)
        #expect(refusal?.sent == .neverSent)
        relay.tell(Self.fine)
        #expect(try await first.value.text == "hello")
        await end.value
        let error = await #expect(throws: RelayClientError.self) { try await client.stream(route: "a") }
        #expect(error?.code == .shutDown)
    }

    @Test("A shutdown hangs up on what is still under way when the grace is over, or nobody waits for it")
    func hardly() async throws {
        for grace in [Duration.zero, .seconds(3_600)] {
            let client = RelayClient(socketPath: relay.path)
            let first = await held(client)
            let end = Task { await client.shutdown(within: grace) }
            if grace > .zero { end.cancel() }
            await end.value
            let result = await first.result
            let error = #expect(throws: RelayClientError.self) { try result.get() }
            #expect(error?.code == .shutDown && error?.sent == .unknown)
        }
    }

    @Test("Waits for jobs and for events end with the shutdown at once, since the jobs go on")
    func waits() async throws {
        let client = RelayClient(socketPath: relay.path)
        let wait = Task {
            try await client.wait(for: "01K9ZQ3V7N4T0C8R5B2M6XW1HD", timeout: .seconds(3_600))
        }
        let events = Task { for try await _ in client.events() {} }
        await relay.received(2)
        await client.shutdown(within: .seconds(3_600))
        let results = [await wait.result.map { _ in }, await events.result]
        for result in results {
            let error = #expect(throws: RelayClientError.self) { try result.get() }
            #expect(error?.code == .shutDown)
        }
    }

    @Test("A body that is read holds up the shutdown until its end")
    func streams() async throws {
        let client = RelayClient(socketPath: relay.path)
        let count = relay.requests.count
        let begun = Task { try await client.stream(route: "a") }
        await relay.received(count + 1)
        relay.tell("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        let answer = try await begun.value
        let events = Task { for try await _ in client.events() {} }
        await relay.received(count + 2)
        let steps = Mutex<[String]>([])
        let end = Task {
            await client.shutdown(within: .seconds(3_600))
            steps.withLock { $0.append("shut down") }
        }
        // A reader of events ends as the shutdown begins; one that waits for nothing is over long before these.
        _ = await events.result
        let other = try StubRelay(.answer(Self.fine))
        for _ in 0..<20 { _ = try await RelayClient(socketPath: other.path).send(route: "a") }
        relay.tell("cd")
        var pieces = answer.makeAsyncIterator()
        var text = ""
        while text.utf8.count < 4, let piece = try await pieces.next() {
            text += String(decoding: piece, as: UTF8.self)
        }
        #expect(text == "abcd")
        steps.withLock { $0.append("read") }
        #expect(try await pieces.next() == nil)
        await end.value
        #expect(steps.withLock { $0 } == ["read", "shut down"])
    }

    @Test("An answer that is held and read no further holds up no shutdown beyond its grace")
    func unread() async throws {
        let client = RelayClient(socketPath: relay.path)
        let begun = Task { try await client.stream(route: "a") }
        await relay.received(1)
        relay.tell("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        let answer = try await begun.value
        await client.shutdown(within: .zero)
        let error = await #expect(throws: RelayClientError.self) { for try await _ in answer {} }
        #expect(error?.code == .shutDown)
    }

    @Test(
        "A body that ends with its connection is not whole where the client itself has ended that",
        arguments: ["shutdown", "cancel", "relay"]
    )
    func cutShort(by end: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab"
        let relay = try StubRelay(.respond { _ in end == "relay" ? .close(head) : .stayOpen(head) })
        let client = RelayClient(socketPath: relay.path)
        let answer = try await client.stream(route: "a")
        let pieces = Mutex<[UInt8]>([])
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let reading = Task {
            for try await piece in answer {
                pieces.withLock { $0 += piece }
                begin.yield()
            }
        }
        for await _ in begun { break }
        switch end {
        case "shutdown": await client.shutdown(within: .zero)
        case "cancel": reading.cancel()
        default: break
        }
        let result = await reading.result
        #expect(pieces.withLock { $0 } == Array("ab".utf8))
        switch end {
        case "relay": #expect(throws: Never.self) { try result.get() }
        default:
            let error = #expect(throws: RelayClientError.self) { try result.get() }
            #expect(error?.code == (end == "cancel" ? .cancelled : .shutDown))
        }
    }

    @Test("A body that broke off holds up no shutdown, though its answer is held")
    func brokenOff() async throws {
        let relay = try StubRelay(.answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"))
        let client = RelayClient(socketPath: relay.path)
        let answer = try await client.stream(route: "a")
        let error = await #expect(throws: RelayClientError.self) { for try await _ in answer {} }
        #expect(error?.code == .connectionLost)
        await client.shutdown(within: .seconds(3_600))
        #expect(answer.head.status == 200)
    }

    @Test("A value that is put into a path stays one segment of it")
    func paths() async throws {
        let client = RelayClient(socketPath: relay.path)
        let value = "../a?b c"
        let task = Task { try await client.send(route: "a", path: "users/\(value)/orders") }
        await relay.received(1)
        #expect(relay.requests[0].hasPrefix("GET /r/a/users/..%2Fa%3Fb%20c/orders HTTP/1.1\r\n"))
        relay.tell(Self.fine)
        _ = try await task.value
        let error = await #expect(throws: RelayClientError.self) {
            try await client.keep(route: "a", path: "users/\("..")", key: "k")
        }
        #expect(error?.code == .invalidRequest && error?.sent == .neverSent)
    }
}

/// Begins what it is asked to, and has it wait, before it is asked for more.
private actor Caller {
    func begin(_ work: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        Task { try await run(work) }
    }

    private func run(_ work: @Sendable () async throws -> Void) async throws { try await work() }

    func ask<Value: Sendable>(_ question: @Sendable () -> Value) -> Value { question() }
}
