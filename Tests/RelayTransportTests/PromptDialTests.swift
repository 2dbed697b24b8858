import COpenSSL
import RelayBase
import RelayPosix
import RelayRoute
import Testing

@testable import RelayTransport

@Suite("A connection that is made for a request without a task", .timeLimit(.minutes(5)))
struct PromptDialTests {
    /// Where a request may lead.
    enum Way: CaseIterable, Sendable {
        case address, name, tls, path
    }

    @Test("Carries it, and is kept for the next one", arguments: Way.allCases)
    func made(way: Way) async throws {
        let script = way == .tls ? SecureServer("good").script(echo) : echo
        let path = way == .path ? "/tmp/prompt-\(SystemClock.monotonic()).sock" : nil
        let server = try ScriptedServer(path: path, script)
        let upstream =
            switch way {
            case .address, .path: server.upstream()
            case .name: server.upstream(host: "api.upstream.test")
            case .tls: server.upstream(host: "upstream.test", isTLS: true, tls: Certificates.trust)
            }
        try await withTransport { transport in
            for number in 0..<3 {
                let result = await transport.prompt(attempt(upstream, .put, body: .bytes([1, 2])))
                guard case .told(.answer(let inbound)) = result else {
                    return #expect(Bool(false), "\(result)")
                }
                let content = try await inbound.response.body.collect(limit: 2)
                #expect(content == [1, 2])
                #expect(inbound.exchange.wasReused == (number > 0))
                #expect((inbound.exchange.connect > .zero) == (number == 0 && way != .path))
            }
        }
        #expect(server.connections == 1)
    }

    @Test("A request in the turn of another, whose connection is not free, has one of its own")
    func both() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            _ = try await transport.send(attempt(server.upstream()))
            async let first = transport.prompt(attempt(server.upstream()))
            async let second = transport.prompt(attempt(server.upstream()))
            async let third = transport.prompt(attempt(server.upstream()))
            for result in await [first, second, third] {
                guard case .told(.answer) = result else { return #expect(Bool(false), "\(result)") }
            }
        }
    }

    /// Why there is no connection.
    enum Trouble: CaseIterable, Sendable {
        case refused, noSocket, longPath, notFound, nameFails, prohibited, untrusted, noTLS, noAuthority
        case nameTakesLong, connectTakesLong, handshakeTakesLong, deadlineFirst

        var kind: FailureKind {
            switch self {
            case .refused: .connectionRefused
            case .noSocket, .longPath: .destinationUnavailable
            case .notFound, .nameFails: .dnsError
            case .nameTakesLong: .dnsTimeout
            case .prohibited: .destinationIPProhibited
            case .untrusted, .noAuthority: .tlsCertificateError
            case .noTLS: .tlsProtocolError
            case .connectTakesLong, .handshakeTakesLong, .deadlineFirst: .connectionTimeout
            }
        }

        var isSlow: Bool {
            switch self {
            case .nameTakesLong, .connectTakesLong, .handshakeTakesLong: true
            default: false
            }
        }
    }

    /// Where that happens.
    private struct Place {
        let upstream: Upstream
        private var server: ScriptedServer?
        private var hole: BlackHole?

        init(_ trouble: Trouble, _ isMet: Gate = Gate()) throws {
            let secure = SecureServer(trouble == .untrusted ? "other" : "good").script { _ in }
            let server = try ScriptedServer { peer in
                isMet.open()
                switch trouble {
                case .noTLS: peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                case .untrusted: return secure(peer)
                default: break
                }
                _ = peer.drain()
            }
            var tls = Certificates.trust
            func tcp(_ host: String, _ allowed: [AddressRange] = loopback) -> Upstream {
                Upstream(
                    name: "test",
                    origin: .tcp(host: host, port: server.port, isTLS: false),
                    allowedAddresses: allowed
                )
            }
            switch trouble {
            case .refused:
                // No test listens there, now or later.
                upstream = Upstream(
                    name: "test",
                    origin: .tcp(host: "127.0.0.77", port: 1, isTLS: false),
                    allowedAddresses: loopback
                )
            case .noSocket: upstream = Upstream(name: "test", origin: .unix(path: "/nonexistent/socket"))
            case .longPath:
                let path = "/" + String(repeating: "x", count: 120)
                upstream = Upstream(name: "test", origin: .unix(path: path))
            case .notFound: upstream = tcp("missing.test")
            case .nameFails: upstream = tcp("shaky.test")
            case .nameTakesLong: upstream = tcp("slow.test")
            case .prohibited: upstream = tcp("127.0.0.1", [])
            case .connectTakesLong:
                let hole = try BlackHole()
                upstream = hole.upstream
                self.hole = hole
            case .noAuthority:
                tls.authorityFile = "/nonexistent.pem"
                fallthrough
            case .untrusted, .noTLS, .handshakeTakesLong, .deadlineFirst:
                upstream = server.upstream(host: "upstream.test", isTLS: true, tls: tls)
            }
            self.server = server
        }
    }

    @Test(
        "The reason why it cannot be made is told as to a request with a task, after the sender has gone on",
        arguments: Trouble.allCases
    )
    func failed(trouble: Trouble) async throws {
        let isOver = Gate()
        let resolver = NameResolver(source: { host in
            if host.hasPrefix("slow") { isOver.block() }
            return testNames(host)
        })
        let place = try Place(trouble)
        try await withTransport(resolver: resolver) { transport in
            let request = {
                attempt(
                    place.upstream,
                    deadline: trouble == .deadlineFirst ? .milliseconds(60) : .seconds(120),
                    connect: trouble.isSlow ? .milliseconds(60) : .seconds(60)
                )
            }
            // Twice: a name that was just looked up fails at once.
            for _ in 0..<2 {
                let expected = await transport.failure(of: request())
                let result = await transport.prompt(request())
                guard case .told(.failure(let failure)) = result else {
                    return #expect(Bool(false), "\(result)")
                }
                #expect(failure.kind == expected?.kind && failure.kind == trouble.kind)
                #expect(failure.detail == expected?.detail && failure.sent == .neverSent)
                #expect(failure.exchange?.address == expected?.exchange?.address)
            }
        }
        isOver.open()
    }

    @Test(
        "Is given up at any step",
        arguments: [Trouble.nameTakesLong, .connectTakesLong, .handshakeTakesLong]
    )
    func cancelled(trouble: Trouble) async throws {
        let (isAsked, isOver) = (Gate(), Gate())
        // A host that has no name is connected to before anything can be known of it.
        if trouble == .connectTakesLong { isAsked.open() }
        let resolver = NameResolver(source: { host in
            guard host.hasPrefix("slow") else { return testNames(host) }
            isAsked.open()
            isOver.block()
            return testNames(host)
        })
        let place = try Place(trouble, isAsked)
        try await withTransport(resolver: resolver) { transport in
            for cancelling in [Cancelling.when(isAsked), .atOnce] {
                let result = await transport.prompt(attempt(place.upstream), cancels: cancelling)
                guard case .told(.failure(let failure)) = result else {
                    return #expect(Bool(false), "\(result)")
                }
                #expect(failure.kind == .cancelled && failure.sent == .neverSent)
                #expect(failure.detail == "the request to \(place.upstream.origin.text) was cancelled")
                #expect(failure.exchange == nil)
            }
            // A result that comes too late for a request that was given up disturbs nobody.
            isOver.open()
            await turn(transport.loop)
        }
    }

    @Test("Each place but the last has its share of what is left of the time, and the first is always tried")
    func shares() {
        let places = (0..<3).map { SocketAddress.unix(path: "/\($0)") }
        var turns = DialOrder(places)
        #expect(turns.areShares)
        // A third of 90; a refusal at 10 leaves the others half of 80 each; the last has all of it.
        #expect(turns.next(now: 0, limit: 90).map { [$0.until] } == [30])
        #expect(turns.next(now: 10, limit: 90).map { [$0.until] } == [50])
        #expect(turns.next(now: 50, limit: 90).map { [$0.until] } == [90])
        #expect(turns.next(now: 50, limit: 90) == nil)
        turns = DialOrder(places)
        #expect(turns.next(now: 7, limit: 5)?.place == places[0])
        #expect(turns.next(now: 7, limit: 5) == nil)
        turns = DialOrder([places[0]])
        #expect(!turns.areShares && turns.next(now: 7, limit: .max)?.until == .max)
        #expect(DialOrder([]).areShares == false)
    }
}
