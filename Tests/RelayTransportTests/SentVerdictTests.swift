import Glibc
import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

@Suite("The sent verdict", .timeLimit(.minutes(5)))
struct SentVerdictTests {
    @Test("A refused connection is never sent")
    func refused() async throws {
        // Bound and closed: nobody listens there.
        let listener = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
        guard case .ip(_, let port)? = Socket.localAddress(listener.raw) else { return }
        listener.close()
        try await expect(
            .connectionRefused,
            .neverSent,
            from: .tcp(host: "127.0.0.1", port: port, isTLS: false)
        )
    }

    @Test("A missing or dead Unix socket is never sent")
    func unixSockets() async throws {
        try await expect(
            .destinationUnavailable,
            .neverSent,
            from: .unix(path: "/tmp/waystation-no-such-socket")
        )
        let long = "/" + String(repeating: "x", count: 200)
        try await expect(.destinationUnavailable, .neverSent, from: .unix(path: long))
    }

    @Test("Names without addresses are never sent")
    func names() async throws {
        try await expect(.dnsError, .neverSent, from: .tcp(host: "missing.test", port: 80, isTLS: false))
        try await expect(.dnsError, .neverSent, from: .tcp(host: "shaky.test", port: 80, isTLS: false))
    }

    @Test(
        "Requests that would break the wire format are never sent",
        arguments: [
            ("GET", "/a b"), ("GET", ""), ("GET", "/\r\nX: y"), ("GET", "/\u{e9}"), ("G T", "/"), ("", "/"),
            ("GET\r\n", "/"), ("CONNECT", "example.com:443"),
        ]
    )
    func malformed(method: String, target: String) async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let failure = await transport.failure(
                of: attempt(server.upstream(), Method(rawValue: method), target)
            )
            #expect(failure?.kind == .preparation && failure?.sent == .neverSent)
        }
        #expect(server.connections == 0)
    }

    @Test("A deadline that has passed is never sent")
    func late() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            let failure = await transport.failure(of: attempt(server.upstream(), deadline: .seconds(-1)))
            #expect(failure?.kind == .httpResponseTimeout && failure?.sent == .neverSent)
        }
        #expect(server.connections == 0)
    }

    @Test(
        "A connection closed before, within or after the request leaves the outcome unknown",
        arguments: 0..<3
    )
    func closed(stage: Int) async throws {
        let server = try ScriptedServer { peer in
            switch stage {
            case 0: break
            case 1: _ = peer.readBytes(10)
            default: _ = peer.readRequest()
            }
        }
        try await withTransport { transport in
            let failure = await transport.failure(
                of: attempt(server.upstream(), .post, body: .bytes([1, 2, 3]))
            )
            #expect(failure?.kind == .connectionTerminated && failure?.sent == .unknown)
            #expect(failure?.exchange?.address == "127.0.0.1:\(server.port)")
        }
        #expect(server.connections == 1)
    }

    @Test(
        "A complete answer is no failure, whatever its status",
        arguments: ["200 OK", "301 X", "404 X", "503 X"]
    )
    func answered(status: String) async throws {
        let server = try ScriptedServer { peer in
            while peer.readRequest() != nil { peer.answer("body", status: status) }
        }
        try await withTransport { transport in
            let answer = try await transport.send(attempt(server.upstream()))
            #expect(answer.response.status.rawValue == UInt16(status.prefix(3)))
            #expect(answer.exchange.firstByte != nil)
        }
    }

    private func expect(_ kind: FailureKind, _ sent: Sent, from origin: Origin) async throws {
        try await withTransport { transport in
            let upstream = Upstream(name: "test", origin: origin, allowedAddresses: loopback)
            let failure = await transport.failure(of: attempt(upstream))
            #expect(failure?.kind == kind && failure?.sent == sent)
        }
    }
}
