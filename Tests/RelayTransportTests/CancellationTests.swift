import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

@Suite("Cancellation", .timeLimit(.minutes(5)))
struct CancellationTests {
    @Test("Cancelling closes the connection at once and throws", arguments: [false, true])
    func duringExchange(onLoop: Bool) async throws {
        let hasRequest = Gate()
        let isClosed = Gate()
        let server = try ScriptedServer { peer in
            _ = peer.readRequest()
            hasRequest.open()
            _ = peer.drain()
            isClosed.open()
        }
        try await withTransport { transport in
            // On a busy machine the other waits must not come first.
            let request = attempt(
                server.upstream(),
                .post,
                body: .bytes([1]),
                deadline: .seconds(50),
                idle: .seconds(50)
            )
            let task = Task(executorPreference: onLoop ? transport.loop : nil) {
                try await transport.send(request)
            }
            await hasRequest.wait()
            if onLoop { await transport.loop.spawn { task.cancel() }.value } else { task.cancel() }
            await isClosed.wait()
            let failure = await #expect(throws: Failure.self) { _ = try await task.value }
            #expect(failure?.kind == .cancelled && failure?.sent == .unknown)
        }
    }

    @Test("Cancelled beforehand, nothing is dialled")
    func beforehand() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let request = attempt(server.upstream())
            let task = Task {
                unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
                _ = try await transport.send(request)
            }
            let failure = await #expect(throws: Failure.self) { try await task.value }
            #expect(failure?.kind == .cancelled && failure?.sent == .neverSent)
        }
        #expect(server.connections == 0)
    }

    @Test("A wait for a name is given up")
    func duringLookup() async throws {
        let isAsked = Gate()
        let isOver = Gate()
        let resolver = NameResolver(source: { _ in
            isAsked.open()
            isOver.block()
            return .failure(.notFound)
        })
        try await withTransport(resolver: resolver) { transport in
            let upstream = Upstream(name: "test", origin: .tcp(host: "slow.test", port: 80, isTLS: false))
            let task = Task { try await transport.send(attempt(upstream)) }
            await isAsked.wait()
            task.cancel()
            let failure = await #expect(throws: Failure.self) { _ = try await task.value }
            #expect(failure?.kind == .cancelled && failure?.sent == .neverSent)
        }
        isOver.open()
    }

    @Test("A reader of a body is woken, and the connection closed")
    func duringBody() async throws {
        let isClosed = Gate()
        let server = try ScriptedServer { peer in
            _ = peer.readRequest()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            _ = peer.drain()
            isClosed.open()
        }
        try await withTransport { transport in
            let answer = try await transport.send(attempt(server.upstream()))
            let isReading = Gate()
            let task = Task {
                guard case .stream(let source) = answer.response.body else { return }
                _ = try await source.next()
                isReading.open()
                _ = try await source.next()
            }
            await isReading.wait()
            task.cancel()
            let failure = await #expect(throws: Failure.self) { try await task.value }
            #expect(failure?.kind == .cancelled)
            await isClosed.wait()
        }
    }

    @Test("A cancellation that comes late harms no later request on the connection")
    func late() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let upstream = server.upstream()
            for _ in 0..<200 {
                let task = Task { try await transport.send(attempt(upstream)) }
                _ = try await task.value
                task.cancel()
                let answer = try await transport.send(attempt(upstream))
                #expect(answer.exchange.wasReused)
            }
        }
    }
}
