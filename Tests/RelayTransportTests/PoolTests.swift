import Glibc
import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Synchronization
import Testing

@Suite("Kept connections", .timeLimit(.minutes(5)))
struct PoolTests {
    @Test("Requests in turn share one connection, and say so")
    func reuse() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let upstream = server.upstream()
            for number in 0..<20 {
                let answer = try await transport.send(attempt(upstream, .post, body: .bytes([UInt8(number)])))
                #expect(answer.exchange.wasReused == (number > 0))
                #expect((answer.exchange.connect > .zero) == (number == 0))
                #expect(try await answer.response.body.collect(limit: 10) == [UInt8(number)])
            }
        }
        #expect(server.connections == 1)
    }

    @Test("Requests of the loop's own tasks share connections too")
    func reuseOnLoop() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let upstream = server.upstream()
            await transport.loop.spawn {
                for _ in 0..<50 {
                    let answer = try? await transport.send(attempt(upstream, .post, body: .bytes([7])))
                    #expect(transport.loop.isCurrent)
                    #expect(answer?.response.status == 200)
                }
            }.value
        }
        #expect(server.connections == 1)
    }

    @Test("Many at once get a connection each, and later ones take the kept")
    func concurrent() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let upstream = server.upstream()
            for _ in 0..<3 {
                await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<32 {
                        group.addTask {
                            let body = Body.bytes([UInt8(number)])
                            let answer = try? await transport.send(attempt(upstream, .post, body: body))
                            return (try? await answer?.response.body.collect(limit: 9)) == [UInt8(number)]
                        }
                    }
                    for await isRight in group { #expect(isRight) }
                }
            }
        }
        #expect(server.connections <= 32)
    }

    @Test("A kept connection that the peer closed is not used again")
    func closedWhileIdle() async throws {
        let hasEnded = (1...5).map { _ in Gate() }
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.answer("once")
            peer.end()
            hasEnded[peer.number].open()
        }
        try await withTransport { transport in
            let upstream = server.upstream()
            for number in 1...5 {
                let answer = try await transport.send(attempt(upstream, .post))
                #expect(answer.response.status == 200)
                #expect(!answer.exchange.wasReused)
                #expect(server.connections == number)
                await hasEnded[number - 1].wait()
                await turn(transport.loop)
            }
        }
    }

    @Test(
        "A connection that ended while the loop was busy does not fail the next request",
        arguments: [false, true]
    )
    func endedBehindTheLoop(byReset: Bool) async throws {
        let isRead = Gate()
        let hasEnded = Gate()
        let server = try ScriptedServer(scripts: [
            { peer in
                guard peer.readRequest() != nil else { return }
                peer.answer("one")
                // A reset must not overtake the answer.
                isRead.block()
                peer.end(byReset: byReset)
                hasEnded.open()
            }, echo,
        ])
        try await withTransport { transport in
            let upstream = server.upstream()
            let statuses = Mutex<[Status?]>([])
            await transport.loop.spawn {
                let first = try? await transport.send(attempt(upstream))
                isRead.open()
                // The loop's thread stands still, so epoll has no chance to tell of the end.
                hasEnded.block()
                let second = try? await transport.send(attempt(upstream, .post, body: .bytes([2])))
                statuses.withLock { $0 = [first?.response.status, second?.response.status] }
            }.value
            #expect(statuses.withLock { $0 } == [200, 200])
        }
        #expect(server.connections == 2)
    }

    @Test("A kept connection on which bytes came unasked is given up")
    func unsolicited() async throws {
        let isPoisoned = (0..<5).map { _ in Gate() }
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.answer("one")
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
            peer.flush()
            isPoisoned[peer.number].open()
            _ = peer.drain()
        }
        try await withTransport { transport in
            let upstream = server.upstream()
            for number in 0..<5 {
                let answer = try await transport.send(attempt(upstream))
                #expect(try await answer.response.body.collect(limit: 9) == Array("one".utf8))
                await isPoisoned[number].wait()
                await turn(transport.loop)
            }
        }
        #expect(server.connections == 5)
    }

    @Test(
        "Answers that end the connection are not followed on it",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok-and-more",
        ]
    )
    func notKept(answer: String) async throws {
        let server = try ScriptedServer { peer in
            while peer.readRequest() != nil { peer.write(answer) }
        }
        try await withTransport { transport in
            let upstream = server.upstream()
            for number in 1...3 {
                let response = try await transport.send(attempt(upstream)).response
                #expect(try await response.body.collect(limit: 99) == Array("ok".utf8))
                #expect(server.connections == number)
            }
        }
    }

    @Test("HTTP/1.0 with keep-alive is kept")
    func keptOldVersion() async throws {
        let server = try ScriptedServer { peer in
            while peer.readRequest() != nil {
                peer.write("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        try await withTransport { transport in
            let upstream = server.upstream()
            for _ in 0..<3 { _ = try await transport.send(attempt(upstream)) }
        }
        #expect(server.connections == 1)
    }

    @Test("Upstreams with equal settings share connections, others do not")
    func sharing() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            _ = try await transport.send(attempt(server.upstream()))
            _ = try await transport.send(attempt(server.upstream()))
            #expect(server.connections == 1)
            let wider = Upstream(
                name: "wider",
                origin: server.upstream().origin,
                allowedAddresses: loopback
                    + [AddressRange(network: [10, 0, 0, 0], prefix: 8)].compactMap(\.self)
            )
            _ = try await transport.send(attempt(wider))
            #expect(server.connections == 2)
        }
    }

    @Test("A body let go of before its end closes the connection; read to its end it keeps it")
    func abandonedBody() async throws {
        let closed = Gate()
        let server = try ScriptedServer(scripts: [
            { peer in
                guard peer.readRequest() != nil else { return }
                peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc")
                _ = peer.drain()
                closed.open()
            }, echo,
        ])
        try await withTransport { transport in
            let upstream = server.upstream()
            do {
                let answer = try await transport.send(attempt(upstream))
                guard case .stream(let source) = answer.response.body else {
                    Issue.record("expected a stream")
                    return
                }
                #expect(source.length == 1_000_000)
                #expect(!source.wasRead)
                #expect(try await source.next() == Array("abc".utf8))
                #expect(source.wasRead)
            }
            await closed.wait()
            let large = [UInt8](repeating: 1, count: 300_000)
            for _ in 0..<2 {
                let answer = try await transport.send(attempt(upstream, .post, body: .bytes(large)))
                #expect(try await answer.response.body.collect(limit: 400_000) == large)
            }
        }
        #expect(server.connections == 2)
    }

    @Test(
        "A connection whose request outlives the forgetting is closed at its end",
        arguments: [false, true]
    )
    func forgottenInFlight(isStreamed: Bool) async throws {
        let arrived = Gate()
        let forgotten = Gate()
        let ended = Gate()
        let server = try ScriptedServer(scripts: [
            { peer in
                guard peer.readRequest() != nil else { return }
                if isStreamed { peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nla") }
                arrived.open()
                forgotten.block()
                if isStreamed { peer.write("st") } else { peer.answer("last") }
                _ = peer.drain()
                ended.open()
            }, echo,
        ])
        try await withTransport { transport in
            let upstream = server.upstream()
            async let answer = transport.send(attempt(upstream))
            await arrived.wait()
            if isStreamed { _ = try await answer }
            transport.forgetSecrets()
            // The loop's queue is in order: what is asked for now comes after.
            await transport.loop.spawn {}.value
            forgotten.open()
            let content = try await answer.response.body.collect(limit: 9)
            #expect(content == Array("last".utf8))
            await ended.wait()
            let next = try await transport.send(attempt(upstream))
            #expect(!next.exchange.wasReused)
        }
    }

    @Test("The library's own transport starts its loop by itself and works from anywhere")
    @MainActor
    func ownLoop() async throws {
        let server = try ScriptedServer(echo)
        let transport = SocketTransport()
        for _ in 0..<3 {
            let large = [UInt8](repeating: 2, count: 200_000)
            let answer = try await transport.send(attempt(server.upstream(), .post, body: .bytes(large)))
            MainActor.assertIsolated()
            #expect(try await answer.response.body.collect(limit: 400_000) == large)
            MainActor.assertIsolated()
        }
        #expect(server.connections == 1)
    }
}
