import COpenSSL
import RelayBase
import RelayRoute
import RelayTestSupport
import RelayTransport
import Synchronization
import Testing

@Suite("Pinned keys on the wire", .timeLimit(.minutes(5)))
struct PinnedKeysTests {
    @Test(
        "A pinned key anywhere in the verified chain lets requests through",
        .clauses("T-95", "T-97"),
        arguments: [
            ("good", ["good", "other"]), ("good", ["other", "ca"]), ("deep", ["middle", "other"]),
            ("deep", ["ca", "other"]), ("deep", ["other", "deep"]), ("rsa", ["rsa", "other"]),
            ("p384", ["p384", "other"]), ("ed25519", ["ed25519", "other"]),
        ],
        [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func pinned(names: (certificate: String, pins: [String]), version: Int32) async throws {
        let tls = SecureServer(names.certificate, versions: version...version)
        let server = try ScriptedServer(tls.script(echo))
        try await withTransport { transport in
            let upstream = upstream(server, pinning(names.pins))
            for _ in 0..<2 {
                let answer = try await transport.send(attempt(upstream, .post, body: .bytes([1])))
                #expect(answer.response.status == 200)
                #expect(!answer.exchange.missedPins)
            }
        }
        #expect(server.connections == 1)
    }

    @Test(
        "Where no pinned key is in the verified chain, not one byte of a request is sent",
        .clauses("T-93", "T-94"),
        arguments: [
            ("good", "upstream.test", ["client", "other"], "upstream.test"),
            ("deep", "upstream.test", ["good", "other"], nil),
            // The pinned certificate is shown along with the chain, but vouches for nothing in it.
            ("stuffed", "upstream.test", ["client", "other"], nil),
            ("wildcard", "a.wild.test", ["client", "other"], "wild.test"),
            ("address", "127.0.0.1", ["client", "other"], "127.0.0.1"),
            ("good", "upstream.test", [], nil),
        ] as [(String, String, [String], String?)],
        [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func refused(
        names: (certificate: String, host: String, pins: [String], pinnedHost: String?),
        version: Int32
    ) async throws {
        let tls = SecureServer(names.certificate, versions: version...version)
        let (counts, counted) = AsyncStream.makeStream(of: Int.self)
        let server = try ScriptedServer(tls.script { counted.yield($0.drain()) })
        try await withTransport { transport in
            var pins = pinning(names.pins, host: names.pinnedHost)
            pins.includesSubdomains = true
            let failure = await fail(transport, upstream(server, pins, host: names.host))
            #expect(failure?.kind == .tlsCertificateError && failure?.sent == .neverSent)
            #expect(failure?.detail.contains("https://\(names.host):\(server.port) ") == true)
            #expect(failure?.detail.contains("none of the pinned keys") == true)
            #expect(failure?.exchange?.address == "127.0.0.1:\(server.port)")
        }
        for await count in counts.prefix(1) { #expect(count == 0) }
        #expect(server.connections == 1)
    }

    @Test("The refusal shows the digest of the key that was there instead, as openssl writes it")
    func leafKey() async throws {
        let server = try ScriptedServer(SecureServer("deep").script { _ = $0.drain() })
        try await withTransport { transport in
            let failure = await fail(transport, upstream(server, pinning(["good", "other"])))
            #expect(failure?.detail.contains(" \(base64(Certificates.pin("deep")));") == true)
        }
    }

    @Test(
        "Pins that only report let the request through and say so on every exchange of the connection",
        .clauses("T-93")
    )
    func reported() async throws {
        let server = try ScriptedServer(SecureServer("good").script(echo))
        try await withTransport { transport in
            var pins = pinning(["client", "other"])
            pins.isEnforced = false
            let upstream = upstream(server, pins)
            for isReused in [false, true] {
                let answer = try await transport.send(attempt(upstream))
                #expect(answer.response.status == 200)
                #expect(answer.exchange.missedPins)
                #expect(answer.exchange.wasReused == isReused)
            }
        }
    }

    @Test(
        "Pins of another host, and no pins, change nothing",
        .clauses("T-94", "T-97"),
        arguments: ["other.test", "test", nil]
    )
    func notPinned(host: String?) async throws {
        let server = try ScriptedServer(SecureServer("good").script(echo))
        try await withTransport { transport in
            let pins = host.map { pinning(["client", "other"], host: $0) }
            let answer = try await transport.send(attempt(upstream(server, pins)))
            #expect(answer.response.status == 200)
            #expect(!answer.exchange.missedPins)
        }
    }

    @Test(
        "A chain that does not verify is refused for that, pinned or not",
        .clauses("T-96"),
        arguments: [
            ("expired", "certificate has expired"), ("other", "self-signed certificate"),
            ("address", "hostname mismatch"),
        ],
        [true, false]
    )
    func invalid(names: (certificate: String, reason: String), isEnforced: Bool) async throws {
        let plain = Mutex(0)
        let isOver = Gate()
        let script = SecureServer(names.certificate).script { peer in
            let count = peer.drain()
            plain.withLock { $0 += count }
        }
        let server = try ScriptedServer { peer in
            script(peer)
            isOver.open()
        }
        try await withTransport { transport in
            var pins = pinning([names.certificate, "good"])
            pins.isEnforced = isEnforced
            let failure = await fail(transport, upstream(server, pins))
            #expect(failure?.kind == .tlsCertificateError && failure?.sent == .neverSent)
            #expect(failure?.detail.contains(names.reason) == true)
        }
        await isOver.wait()
        #expect(plain.withLock { $0 } == 0)
    }

    @Test("Pins are enforced up to their expiry by the clock on the wall, and not after it", .clauses("T-92"))
    func expiry() async throws {
        let now = Atomic<Int64>(999)
        let server = try ScriptedServer(SecureServer("good").script(echo))
        let clock: @Sendable () -> Int64 = { now.load(ordering: .relaxed) }
        try await withTransport(wallSeconds: clock) { transport in
            var pins = pinning(["client", "other"])
            pins.until = 1_000
            let upstream = upstream(server, pins)
            #expect(await fail(transport, upstream)?.kind == .tlsCertificateError)
            now.store(1_000, ordering: .relaxed)
            let answer = try await transport.send(attempt(upstream))
            #expect(answer.response.status == 200)
            #expect(!answer.exchange.missedPins)
        }
    }

    @Test("A connection made before pins were set is not used under them")
    func pools() async throws {
        let server = try ScriptedServer(SecureServer("good").script(echo))
        try await withTransport { transport in
            _ = try await transport.send(attempt(upstream(server, nil)))
            let failure = await fail(transport, upstream(server, pinning(["client", "other"])))
            #expect(failure?.kind == .tlsCertificateError)
        }
        #expect(server.connections == 2)
    }

    @Test(
        "With pins every connection shows its chain: none resumes the session of another",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION],
        [true, false]
    )
    func resumption(version: Int32, matches: Bool) async throws {
        let resumed = Mutex<[Bool]>([])
        let tls = SecureServer("good", versions: version...version)
        let server = try ScriptedServer(
            tls.script { peer in
                let wasResumed = peer.wasResumed
                resumed.withLock { $0.append(wasResumed) }
                for _ in 0..<2 where peer.readRequest() != nil { peer.answer() }
            }
        )
        try await withTransport { transport in
            var pins = pinning([matches ? "good" : "client", "other"])
            pins.isEnforced = matches
            let upstream = upstream(server, pins)
            // Where the peer's end is not seen in time, a request goes out once more on the next connection.
            for _ in 0..<6 {
                let answer = try await transport.send(attempt(upstream, isRepeatable: true))
                #expect(answer.exchange.missedPins != matches)
            }
        }
        #expect(resumed.withLock { $0 } == [false, false, false])
    }

    @Test("A peer cannot change its certificate once its keys were found good")
    func renegotiation() async throws {
        let tls = SecureServer("good", versions: TLS1_2_VERSION...TLS1_2_VERSION)
        let server = try ScriptedServer(
            tls.script { peer in
                guard peer.readRequest() != nil, peer.renegotiate(as: "p384") else { return }
                peer.answer()
            }
        )
        try await withTransport { transport in
            let plain = try await transport.send(attempt(upstream(server, nil)))
            #expect(plain.response.status == 200)
            let failure = await fail(transport, upstream(server, pinning(["good", "other"])))
            #expect(failure?.sent == .unknown)
        }
    }

    private func pinning(_ names: [String], host: String? = nil) -> PublicKeyPins {
        PublicKeyPins(keys: names.map(Certificates.pin), host: host)
    }

    private func upstream(
        _ server: ScriptedServer,
        _ pins: PublicKeyPins?,
        host: String = "upstream.test"
    ) -> Upstream {
        var settings = Certificates.trust
        settings.pins = pins
        return server.upstream(host: host, isTLS: true, tls: settings)
    }

    private func fail(_ transport: LoopTransport, _ upstream: Upstream) async -> Failure? {
        await transport.failure(of: attempt(upstream, .post, body: .bytes([1])))
    }
}
