import COpenSSL
import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Synchronization
import Testing

@Suite("TLS", .timeLimit(.minutes(5)))
struct TLSTests {
    @Test(
        "Verified connections carry requests and are kept",
        arguments: [
            ("good", "upstream.test"), ("address", "127.0.0.1"), ("wildcard", "a.wild.test"),
        ],
        [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func verified(names: (certificate: String, host: String), version: Int32) async throws {
        let tls = SecureServer(names.certificate, versions: version...version)
        let server = try ScriptedServer(tls.script(echo))
        try await withTransport { transport in
            let upstream = server.upstream(host: names.host, isTLS: true, tls: Certificates.trust)
            for size in [3, 20_000, 1_000_000] {
                let bytes = [UInt8](repeating: 5, count: size)
                let bodies: [Body] = [.bytes(bytes), .stream(Pieces([bytes])), .bytes(bytes)]
                for body in bodies {
                    let answer = try await transport.send(attempt(upstream, .post, body: body))
                    #expect(try await answer.response.body.collect(limit: size) == bytes)
                }
            }
        }
        #expect(server.connections == 1)
    }

    @Test("Settings that no connection could be made with are told without one")
    func check() {
        var absent = Certificates.trust
        absent.authorityFile = "/nonexistent.pem"
        var mixed = Certificates.trust
        mixed.clientCertificate = .file("client.pem")
        mixed.clientKey = .file("good.key")
        var right = mixed
        right.clientKey = .file("client.key")
        let read: (SecretReference) -> Secret? = { reference in
            if case .file(let name) = reference { Certificates.read(name) } else { nil }
        }
        #expect(TLSTrust.check(absent, secrets: read)?.contains("/nonexistent.pem") == true)
        #expect(TLSTrust.check(mixed, secrets: read)?.contains("good.key") == true)
        #expect(TLSTrust.check(right, secrets: { _ in nil })?.contains("client.pem") == true)
        #expect(TLSTrust.check(right, secrets: read) == nil)
        #expect(TLSTrust.check(TLSSettings(), secrets: read) == nil)
    }

    @Test(
        "A certificate that does not hold ends the handshake with its reason, never sent",
        arguments: [
            ("good", "127.0.0.1", "ca.pem", "IP address mismatch"),
            ("good", "other.test", "ca.pem", "hostname mismatch"),
            ("good", "sub.upstream.test", "ca.pem", "hostname mismatch"),
            ("wildcard", "wild.test", "ca.pem", "hostname mismatch"),
            ("wildcard", "a.b.wild.test", "ca.pem", "hostname mismatch"),
            ("address", "upstream.test", "ca.pem", "hostname mismatch"),
            // The host is the subject's common name in both (RFC 9525, 6.3).
            ("nameless", "upstream.test", "ca.pem", "hostname mismatch"),
            ("numbered", "upstream.test", "ca.pem", "name the host in subjectAltName"),
            ("partial", "upper.wild.test", "ca.pem", "hostname mismatch"),
            ("expired", "upstream.test", "ca.pem", "certificate has expired"),
            ("future", "upstream.test", "ca.pem", "certificate is not yet valid"),
            ("good", "upstream.test", "other.pem", "unable to get local issuer certificate"),
            ("other", "upstream.test", "ca.pem", "self-signed certificate"),
            ("good", "upstream.test", "", "unable to get local issuer certificate"),
        ]
    )
    func refused(certificate: String, host: String, authority: String, reason: String) async throws {
        let plain = Mutex(0)
        let isOver = Gate()
        let script = SecureServer(certificate).script { peer in
            let count = peer.drain()
            plain.withLock { $0 += count }
        }
        let server = try ScriptedServer { peer in
            script(peer)
            isOver.open()
        }
        try await withTransport { transport in
            var settings = TLSSettings()
            if !authority.isEmpty { settings.authorityFile = Certificates.path(authority) }
            let upstream = server.upstream(host: host, isTLS: true, tls: settings)
            let failure = await transport.failure(of: attempt(upstream, .post, body: .bytes([1])))
            #expect(failure?.kind == .tlsCertificateError && failure?.sent == .neverSent)
            #expect(failure?.detail.contains(reason) == true, "\(failure?.detail ?? "")")
        }
        await isOver.wait()
        #expect(plain.withLock { $0 } == 0)
    }

    @Test("TLS 1.1 is not spoken")
    func oldVersion() async throws {
        let tls = SecureServer("good", versions: TLS1_1_VERSION...TLS1_1_VERSION)
        let server = try ScriptedServer(tls.script(echo))
        try await withTransport { transport in
            let failure = await fail(transport, server)
            #expect(failure?.kind == .tlsAlertReceived || failure?.kind == .tlsProtocolError)
            #expect(failure?.sent == .neverSent)
        }
    }

    @Test(
        "A peer that speaks no TLS, or hangs up, is a TLS failure and never sent",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}", "",
        ]
    )
    func notTLS(greeting: String) async throws {
        let server = try ScriptedServer { peer in
            _ = peer.readBytes(1)
            peer.write(greeting)
        }
        try await withTransport { transport in
            let failure = await fail(transport, server)
            let kinds: [FailureKind] = [.tlsProtocolError, .tlsAlertReceived, .connectionTerminated]
            #expect(failure.map { kinds.contains($0.kind) } == true)
            #expect(failure?.sent == .neverSent)
        }
    }

    @Test(
        "A client certificate is shown where one is configured",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func clientCertificate(version: Int32) async throws {
        let tls = SecureServer("good", versions: version...version, wantsClient: true)
        let server = try ScriptedServer(tls.script(echo))
        var settings = Certificates.trust
        settings.clientCertificate = .file("client.pem")
        settings.clientKey = .file("client.key")
        try await withTransport(secrets: secrets) { [settings] transport in
            let upstream = server.upstream(host: "upstream.test", isTLS: true, tls: settings)
            let answer = try await transport.send(attempt(upstream, .post, body: .bytes([1])))
            #expect(answer.response.status == 200)
        }
    }

    @Test(
        "Without the certificate the peer wants, its alert is the failure",
        arguments: [
            (TLS1_2_VERSION, [Sent.neverSent]), (TLS1_3_VERSION, [.neverSent, .unknown]),
        ]
    )
    func missingClientCertificate(version: Int32, sent: [Sent]) async throws {
        let tls = SecureServer("good", versions: version...version, wantsClient: true)
        let server = try ScriptedServer(tls.script(echo))
        try await withTransport { transport in
            let failure = await fail(transport, server)
            #expect(failure?.kind == .tlsAlertReceived || failure?.kind == .connectionTerminated)
            // In TLS 1.3 the client has finished, and may have written, before the server looks.
            #expect(failure.map { sent.contains($0.sent) } == true)
        }
    }

    @Test(
        "Credentials that are missing, encrypted or do not fit are named, never shown",
        arguments: [
            ("missing.pem", "client.key", "missing.pem"), ("client.pem", "missing.key", "missing.key"),
            ("client.pem", "good.key", "good.key"), ("client.pem", "locked.key", "locked.key"),
            ("ca.key", "client.key", "ca.key"),
        ]
    )
    func badCredentials(certificate: String, key: String, named: String) async throws {
        let tls = SecureServer("good")
        let server = try ScriptedServer(tls.script(echo))
        var settings = Certificates.trust
        settings.clientCertificate = .file(certificate)
        settings.clientKey = .file(key)
        try await withTransport(secrets: secrets) { [settings] transport in
            let failure = await fail(transport, server, settings)
            #expect(failure?.kind == .credentialsFailed && failure?.sent == .neverSent)
            #expect(failure?.detail.contains(named) == true)
            #expect(failure?.detail.contains("BEGIN") == false)
        }
    }

    @Test("An authority file that cannot be read is named")
    func badAuthority() async throws {
        let tls = SecureServer("good")
        let server = try ScriptedServer(tls.script(echo))
        var settings = TLSSettings()
        settings.authorityFile = "/nowhere/ca.pem"
        try await withTransport { [settings] transport in
            let failure = await fail(transport, server, settings)
            #expect(failure?.kind == .tlsCertificateError)
            #expect(failure?.detail.contains("/nowhere/ca.pem") == true)
        }
    }

    @Test(
        "A later connection resumes the session of an earlier one",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func resumption(version: Int32) async throws {
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
            let upstream = server.upstream(host: "upstream.test", isTLS: true, tls: Certificates.trust)
            for _ in 0..<4 {
                _ = try await transport.send(attempt(upstream, isRepeatable: true))
            }
        }
        #expect(resumed.withLock { $0.first } == false)
        #expect(resumed.withLock { $0.dropFirst().contains(true) })
    }

    @Test("A body cut without TLS's goodbye is incomplete, even where the connection's end is its framing")
    func truncation() async throws {
        let tls = SecureServer("good")
        let server = try ScriptedServer(
            tls.script { peer in
                _ = peer.readRequest()
                peer.write("HTTP/1.1 200 OK\r\n\r\nhalf of it")
                peer.cut()
            }
        )
        try await withTransport { transport in
            let upstream = server.upstream(host: "upstream.test", isTLS: true, tls: Certificates.trust)
            let answer = try await transport.send(attempt(upstream))
            let failure = await #expect(throws: Failure.self) {
                _ = try await answer.response.body.collect(limit: 1_000)
            }
            #expect(failure?.kind == .httpResponseIncomplete && failure?.sent == .unknown)
        }
    }

    private func fail(
        _ transport: LoopTransport,
        _ server: ScriptedServer,
        _ settings: TLSSettings = Certificates.trust
    ) async -> Failure? {
        let upstream = server.upstream(host: "upstream.test", isTLS: true, tls: settings)
        return await transport.failure(of: attempt(upstream, .post, body: .bytes([1])))
    }

    private let secrets: @Sendable (SecretReference) -> Secret? = { reference in
        if case .file(let name) = reference { Certificates.read(name) } else { nil }
    }
}
