import RelayPosix
import Testing

@Suite("Addresses")
struct IPAddressTests {
    @Test(
        "Numeric text is read and written back canonically",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ]
    )
    func readsAndWrites(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(
        "A text that is not exactly an address is refused",
        arguments: [
            "", "127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "127.0.0.1 ", "[::1]", "::1%lo",
            "1.2.3.4.5",
            "256.1.1.1", "example.com", "::g", "1:2:3:4:5:6:7:8:9",
        ]
    )
    func refuses(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("Bytes are in network order")
    func bytes() {
        #expect(IPAddress(v4: 0x0A01_0203).bytes == [10, 1, 2, 3])
        #expect(IPAddress("fe80::1")?.bytes == [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1])
    }

    @Test("Places are written with brackets where they are needed")
    func places() throws {
        #expect(SocketAddress.ip(try #require(IPAddress("::1")), port: 80).description == "[::1]:80")
        #expect(SocketAddress.ip(try #require(IPAddress("10.0.0.1")), port: 80).description == "10.0.0.1:80")
    }
}
