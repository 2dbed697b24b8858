import RelayBase
import RelayClient
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
        let end = Task { await client.shutdown(within: .seconds(60)) }
        relay.tell("cd")
        var text = ""
        for try await piece in answer { text += String(decoding: piece, as: UTF8.self) }
        #expect(text == "abcd")
        await end.value
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
