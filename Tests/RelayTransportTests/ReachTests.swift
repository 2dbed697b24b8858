import COpenSSL
import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

@Suite("A connection that is made to look at it", .timeLimit(.minutes(5)))
struct ReachTests {
    @Test(
        "Each step is told, and the connection serves the request that comes",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func reached(version: Int32) async throws {
        let tls = SecureServer("deep", versions: version...version)
        let server = try ScriptedServer(tls.script(echo))
        try await withTransport { transport in
            let upstream = server.upstream(host: "upstream.test", isTLS: true, tls: Certificates.trust)
            let report = await reach(upstream, transport)
            #expect(report.failure == nil && report.faults.isEmpty)
            #expect(report.steps.map(\.step) == [.name, .rules, .connect, .tls])
            #expect(report.addresses == ["127.0.0.1"] && report.permitted == 1)
            #expect(report.address?.hasPrefix("127.0.0.1:") == true)
            let certificate = try #require(report.certificate)
            #expect(certificate.version == (version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3"))
            // The authority's own is made for thirty days, and ends first.
            #expect(certificate.count == 3 && certificate.daysLeft.map { (28...30).contains($0) } == true)
            #expect(!certificate.isClientAsked)
            let answer = try await transport.send(attempt(upstream, .post, body: .bytes([1])))
            #expect(answer.response.status == 200)
        }
        #expect(server.connections == 1)
    }

    @Test("An address that leads nowhere is told beside the one that takes the connection")
    func severalAddresses() async throws {
        let server = try ScriptedServer(echo)
        // Nobody listens on the other address of this machine.
        let addresses = [IPAddress(v4: 0x7F00_0003), IPAddress(v4: 0x0A00_0001), IPAddress(v4: 0x7F00_0001)]
        try await withTransport(resolver: NameResolver(source: { _ in .success(addresses) })) { transport in
            let report = await reach(server.upstream(host: "two.test"), transport)
            #expect(report.failure == nil)
            #expect(report.addresses == ["127.0.0.3", "10.0.0.1", "127.0.0.1"] && report.permitted == 2)
            #expect(report.faults.count == 1 && report.faults[0].contains("127.0.0.3"))
            #expect(report.address?.hasPrefix("127.0.0.1:") == true)
        }
    }

    @Test("A wait in vain ends at its time, or when nobody waits for it any more")
    func ends() async throws {
        let hole = try BlackHole()
        try await withTransport { transport in
            let report = await reach(hole.upstream, transport, connect: .milliseconds(60))
            #expect(report.failure?.kind == .connectionTimeout && report.steps.last?.step == .connect)
            #expect((report.steps.last?.time ?? .zero) >= .milliseconds(60))
            let waiting = transport.loop.spawn { [upstream = hole.upstream] in
                let report = await transport.reach(attempt(upstream))
                #expect(report.failure?.kind == .cancelled)
            }
            await turn(transport.loop)
            waiting.cancel()
            await waiting.value
        }
    }

    @Test(
        "A peer that wants a client certificate is told of, whether there is one to show or not",
        arguments: [false, true]
    )
    func clientCertificate(isShown: Bool) async throws {
        let tls = SecureServer("good", wantsClient: true)
        let server = try ScriptedServer(tls.script(echo))
        var trust = Certificates.trust
        if isShown { (trust.clientCertificate, trust.clientKey) = (.file("client.pem"), .file("client.key")) }
        let read: @Sendable (SecretReference) -> Secret? = { reference in
            if case .file(let name) = reference { Certificates.read(name) } else { nil }
        }
        try await withTransport(secrets: read) { transport in
            let report = await reach(
                server.upstream(host: "upstream.test", isTLS: true, tls: trust),
                transport
            )
            #expect(report.failure == nil && report.certificate?.isClientAsked == true)
        }
    }

    private func reach(
        _ upstream: Upstream,
        _ transport: LoopTransport,
        connect: Duration = .seconds(60)
    ) async -> DialReport {
        let request = attempt(upstream, connect: connect)
        return await withTaskExecutorPreference(transport.loop) { await transport.reach(request) }
    }
}
