import Glibc
import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Synchronization
import Testing

@Suite("Timeouts", .timeLimit(.minutes(5)))
struct TimeoutTests {
    private static let short = Duration.milliseconds(60)

    @Test("A listener that never accepts and whose backlog is full makes connecting time out, never sent")
    func connect() async throws {
        let hole = try BlackHole()
        try await withTransport { transport in
            let failure = await transport.failure(of: attempt(hole.upstream, connect: Self.short))
            #expect(failure?.kind == .connectionTimeout && failure?.sent == .neverSent)
        }
    }

    @Test("A name that is not answered in time is never sent")
    func name() async throws {
        let isOver = Gate()
        let resolver = NameResolver(source: { _ in
            isOver.block()
            return .failure(.notFound)
        })
        try await withTransport(resolver: resolver) { transport in
            let upstream = Upstream(name: "test", origin: .tcp(host: "slow.test", port: 80, isTLS: false))
            let failure = await transport.failure(of: attempt(upstream, connect: Self.short))
            #expect(failure?.kind == .dnsTimeout && failure?.sent == .neverSent)
        }
        isOver.open()
    }

    @Test("A TLS handshake that does not go on is never sent")
    func handshake() async throws {
        let server = try ScriptedServer { peer in _ = peer.drain() }
        try await withTransport { transport in
            // Not by a name, which would have to be found in that time.
            let upstream = server.upstream(isTLS: true)
            let failure = await transport.failure(of: attempt(upstream, connect: Self.short))
            #expect(failure?.kind == .connectionTimeout && failure?.sent == .neverSent)
        }
    }

    @Test("No answer by the deadline leaves the outcome unknown")
    func deadline() async throws {
        let server = try ScriptedServer { peer in _ = peer.drain() }
        try await withTransport { transport in
            try await doubling { time in
                let start = SystemClock.monotonic()
                let failure = await transport.failure(of: attempt(server.upstream(), deadline: time))
                #expect(SystemClock.monotonic() - start >= time.saturatedNanoseconds)
                #expect([.httpResponseTimeout, .connectionTimeout].contains(failure?.kind))
                guard failure?.sent != .neverSent else { return false }
                #expect(failure?.kind == .httpResponseTimeout && failure?.sent == .unknown)
                return true
            }
        }
    }

    @Test("A server that drips its head byte by byte does not outlast the deadline")
    func drippedHead() async throws {
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\n")
            while peer.write("A: b\r\n") { sched_yield() }
        }
        try await withTransport { transport in
            var limits = ResponseLimits()
            limits.head = 16_777_216
            limits.fieldCount = 10_000_000
            try await doubling { time in
                let failure = await transport.failure(
                    of: attempt(server.upstream(), deadline: time, limits: limits)
                )
                guard failure?.sent != .neverSent else { return false }
                #expect([.httpResponseTimeout, .httpResponseHeaderSectionSize].contains(failure?.kind))
                return true
            }
        }
    }

    @Test("Silence for the idle timeout ends a wait for the head")
    func idleHead() async throws {
        let server = try ScriptedServer { peer in _ = peer.drain() }
        try await withTransport { transport in
            let failure = await transport.failure(of: attempt(server.upstream(), idle: Self.short))
            #expect(failure?.kind == .connectionReadTimeout && failure?.sent == .unknown)
        }
    }

    @Test("Silence for the idle timeout ends a wait for the body")
    func idleBody() async throws {
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            _ = peer.drain()
        }
        try await withTransport { transport in
            try await doubling { time in
                guard let answer = try? await transport.send(attempt(server.upstream(), idle: time)) else {
                    return false
                }
                let failure = await #expect(throws: Failure.self) {
                    _ = try await answer.response.body.collect(limit: 10)
                }
                #expect(failure?.kind == .connectionReadTimeout && failure?.sent == .unknown)
                return true
            }
        }
    }

    @Test("A body that is bounded fails at its deadline although bytes keep coming")
    func boundedBody() async throws {
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while peer.write("1\r\na\r\n") { sched_yield() }
        }
        try await withTransport { transport in
            let answer = try await transport.send(attempt(server.upstream()))
            guard case .stream(let source) = answer.response.body else {
                Issue.record("expected a stream")
                return
            }
            source.bound(by: Instant(nanoseconds: SystemClock.monotonic()).advanced(by: Self.short))
            let failure = await #expect(throws: Failure.self) {
                while try await source.next() != nil {}
            }
            #expect(failure?.kind == .httpResponseTimeout)
        }
    }

    @Test("A server that stops reading ends a large upload after the idle timeout")
    func stalledUpload() async throws {
        let isOver = Gate()
        let server = try ScriptedServer { _ in isOver.block() }
        try await withTransport { transport in
            let large = [UInt8](repeating: 0, count: 32 * 1_048_576)
            let failure = await transport.failure(
                of: attempt(server.upstream(), .post, body: .bytes(large), idle: Self.short)
            )
            #expect(failure?.kind == .connectionWriteTimeout && failure?.sent == .unknown)
        }
        isOver.open()
    }

    @Test("A source that never brings its next piece ends after the idle timeout, as its own fault")
    func silentSource() async throws {
        let server = try ScriptedServer { peer in _ = peer.drain() }
        try await withTransport { transport in
            try await doubling { time in
                let request = attempt(
                    server.upstream(),
                    .post,
                    body: .stream(Silence()),
                    deadline: time,
                    idle: time
                )
                let failure = await transport.failure(of: request)
                guard failure?.sent != .neverSent else { return false }
                #expect(failure?.kind == .httpRequestError)
                return true
            }
        }
    }

    @Test("The deadline stands still while the request's content moves, and goes on with its last byte")
    func uploadOutlastsDeadline() async throws {
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        try await withTransport { transport in
            try await doubling { time in
                let body = Slow(pause: time * 3, count: 2)
                let request = attempt(server.upstream(), .post, body: .stream(body), deadline: time)
                do throws(Failure) {
                    let answer = try await transport.send(request)
                    #expect(answer.exchange.upload >= time * 6)
                    return true
                } catch {
                    #expect(error.kind == .httpResponseTimeout || error.kind == .connectionTimeout)
                    return false
                }
            }
        }
    }

    @Test("A moment that ends all of it ends content that moves, which is its source's")
    func endOfAll() async throws {
        let server = try ScriptedServer { peer in _ = peer.drain() }
        try await withTransport { transport in
            try await doubling { time in
                let end = Instant(nanoseconds: SystemClock.monotonic()).advanced(by: time)
                let request = attempt(
                    server.upstream(),
                    .post,
                    body: .stream(Silence()),
                    end: TimeBound(end, TimeLimit("the caller's timeout", time))
                )
                let failure = await transport.failure(of: request)
                guard failure?.sent != .neverSent else { return false }
                #expect(failure?.kind == .httpRequestError)
                #expect(failure?.detail.contains("the caller's timeout") == true)
                return true
            }
        }
    }

    @Test("Timers of requests that ended leave the kept connection alone")
    func timersAreQuiet() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let upstream = server.upstream()
            try await doubling { time in
                let request = attempt(upstream, deadline: time, idle: time)
                guard (try? await transport.send(request)) != nil else { return false }
                // The loop's timers fire in the order of their deadlines.
                let later = SystemClock.monotonic() + time.saturatedNanoseconds
                await transport.loop.spawn { try? await transport.loop.sleep(until: later) }.value
                return true
            }
            let answer = try await transport.send(attempt(upstream))
            #expect(answer.exchange.wasReused)
        }
    }
}
