import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

@Suite("Addresses that are dialled", .timeLimit(.minutes(5)))
struct AddressPolicyTests {
    @Test(
        "Addresses of the host's own world are refused",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
            "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1",
            "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1",
            "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:10.0.0.1", "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::",
            "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1",
            "fec0::1",
            "ff02::1",
        ]
    )
    func refuses(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressPolicy.prohibition(of: address, allowed: []) != nil)
    }

    @Test(
        "Public addresses are dialled",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
            "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "64:ff9b::101:101",
            "2002:101:101::1", "::ffff:1.1.1.1",
        ]
    )
    func permits(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressPolicy.prohibition(of: address, allowed: []) == nil)
    }

    @Test("A range opens exactly itself")
    func ranges() throws {
        let range = try #require(AddressRange(network: [10, 1, 0, 0], prefix: 16))
        let verdicts = ["10.1.2.3", "10.2.0.1", "::ffff:10.1.2.3", "::ffff:10.2.0.1"].map { text in
            IPAddress(text).map { AddressPolicy.prohibition(of: $0, allowed: [range]) == nil }
        }
        #expect(verdicts == [true, false, true, false])
    }

    @Test(
        "Where a credential goes unencrypted nothing is dialled but what is allowed",
        arguments: ["1.1.1.1", "::ffff:1.1.1.1", "10.1.2.3"]
    )
    func confined(text: String) async throws {
        let range = try #require(AddressRange(network: [10, 2, 0, 0], prefix: 16))
        let upstream = Upstream(
            name: "test",
            origin: .tcp(host: text, port: 80, isTLS: false),
            allowedAddresses: [range]
        )
        try await withTransport { transport in
            let failure = await transport.failure(of: attempt(upstream.confined))
            #expect(failure?.kind == .destinationIPProhibited && failure?.sent == .neverSent)
        }
    }

    @Test("A name that leads to a private address is refused by address and key, and no byte is sent")
    func refusedName() async throws {
        let server = try ScriptedServer(echo)
        try await withTransport { transport in
            for host in ["127.0.0.1", "private.test"] {
                let upstream = Upstream(
                    name: "test",
                    origin: .tcp(host: host, port: server.port, isTLS: false)
                )
                let failure = await transport.failure(of: attempt(upstream))
                #expect(failure?.kind == .destinationIPProhibited && failure?.sent == .neverSent)
                #expect(failure?.detail.contains("127.0.0.1") == true)
                for place in ["to allow_addresses", "allowedAddresses"] {
                    #expect(failure?.detail.contains(place) == true)
                }
            }
        }
        #expect(server.connections == 0)
    }

    @Test("Of several addresses only the permitted are dialled, in order")
    func mixedAddresses() async throws {
        let server = try ScriptedServer(echo)
        let resolver = NameResolver(source: { _ in
            .success([
                IPAddress(v4: 0x0A00_0001), IPAddress(v4: 0x7F00_0002), IPAddress(v4: 0x7F00_0001),
            ])
        })
        try await withTransport(resolver: resolver) { transport in
            let answer = try await transport.send(attempt(server.upstream(host: "several.test")))
            #expect(answer.exchange.address == "127.0.0.1:\(server.port)")
        }
    }
}
