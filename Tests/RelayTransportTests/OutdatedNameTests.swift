import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Synchronization
import Testing

@Suite("A name server that stops answering", .timeLimit(.minutes(5)))
struct OutdatedNameTests {
    @Test("Requests go on to the address that was right before, and a late answer disturbs none of them")
    func goesOn() async throws {
        let time = Atomic<Int64>(0)
        let isDead = Mutex(false)
        let gate = Semaphore()
        let resolver = NameResolver(
            clock: { time.load(ordering: .relaxed) },
            source: { host in
                if isDead.withLock({ $0 }) { gate.wait() }
                return testNames(host)
            }
        )
        // One request to a connection, so that each has to find the address.
        let server = try ScriptedServer { peer in
            if peer.readRequest() != nil { peer.answer("here", fields: "Connection: close\r\n") }
        }
        try await withTransport(resolver: resolver) { transport in
            let upstream = server.upstream(host: "api.upstream.test")
            for number in 0..<3 {
                if number == 1 {
                    isDead.withLock { $0 = true }
                    time.store(31_000_000_000, ordering: .relaxed)
                }
                let answer = try await transport.send(attempt(upstream))
                #expect(answer.response.status == 200)
                if number > 0 { #expect(answer.exchange.nameLookup >= .milliseconds(500)) }
            }
            gate.signal()
        }
        #expect(server.connections == 3)
    }

    @Test("An answer that comes while the old address is dialled changes nothing about that")
    func late() async throws {
        let time = Atomic<Int64>(0)
        let isDead = Mutex(false)
        let (gate, isDialled, mayGoOn) = (Semaphore(), Gate(), Gate())
        let resolver = NameResolver(
            clock: { time.load(ordering: .relaxed) },
            source: { host in
                if isDead.withLock({ $0 }) { gate.wait() }
                return testNames(host)
            }
        )
        let script = SecureServer("good").script { peer in
            if peer.readRequest() != nil { peer.answer("here", fields: "Connection: close\r\n") }
        }
        let server = try ScriptedServer(scripts: [
            script,
            { peer in
                isDialled.open()
                mayGoOn.block()
                script(peer)
            },
        ])
        try await withTransport(resolver: resolver) { transport in
            let upstream = server.upstream(host: "upstream.test", isTLS: true, tls: Certificates.trust)
            _ = try await transport.send(attempt(upstream))
            isDead.withLock { $0 = true }
            time.store(31_000_000_000, ordering: .relaxed)
            async let second = transport.send(attempt(upstream))
            await isDialled.wait()
            isDead.withLock { $0 = false }
            gate.signal()
            // Known again, the name was told to who waited for it.
            while resolver.lookUp("upstream.test", { _ in }) == nil { await turn(transport.loop) }
            await turn(transport.loop)
            mayGoOn.open()
            #expect(try await second.response.status == 200)
        }
        #expect(server.connections == 2)
    }

    @Test("A name that never had an address fails when its time is up, and the message says which")
    func neverKnown() async throws {
        let gate = Semaphore()
        let resolver = NameResolver(
            source: { host in
                gate.wait()
                return testNames(host)
            }
        )
        try await withTransport(resolver: resolver) { transport in
            let upstream = Upstream(
                name: "test",
                origin: .tcp(host: "api.upstream.test", port: 80, isTLS: false),
                allowedAddresses: loopback
            )
            let failure = await transport.failure(of: attempt(upstream, connect: .milliseconds(200)))
            #expect(failure?.kind == .dnsTimeout && failure?.sent == .neverSent)
            #expect(
                failure?.detail.hasSuffix("within timeouts.connect (200ms)") == true,
                "\(failure?.detail ?? "")"
            )
            gate.signal()
        }
    }
}
