package import RelayRoute

/// Addresses that are not the public internet's: an upstream there must be allowed by name.
package enum SpecialAddresses {
    /// IANA special-purpose registries (RFC 6890 and later), with the names operators use.
    private static let ranges: [(text: String, what: String)] = [
        ("0.0.0.0/8", "an unspecified address"), ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "a carrier-internal address"), ("127.0.0.0/8", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"), ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a special-purpose address"), ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "a benchmarking address"), ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"), ("::/128", "an unspecified address"),
        ("::1/128", "a loopback address"), ("64:ff9b::/96", "a translated address"),
        ("100::/64", "a discard address"), ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("ff00::/8", "a multicast address"),
    ]

    /// The range a special address belongs to and what it is; nil for a public one.
    static func find(_ address: [UInt8]) -> (range: String, what: String)? {
        let plain = embedded(address)
        for entry in ranges {
            if let range = try? AddressRange(parsing: entry.text), range.contains(plain) {
                return (entry.text, entry.what)
            }
        }
        return nil
    }

    static func isLoopback(_ address: [UInt8]) -> Bool {
        find(address)?.what == "a loopback address"
    }

    /// The IPv4 address inside an IPv4-mapped one (RFC 4291 §2.5.5.2): that is what the kernel dials.
    static func embedded(_ address: [UInt8]) -> [UInt8] {
        let isMapped =
            address.count == 16 && address[..<10].allSatisfy { $0 == 0 } && address[10] == 0xFF
            && address[11] == 0xFF
        return isMapped ? Array(address[12...]) : address
    }
}

extension SpecialAddresses {
    /// The ranges that must be allowed before a URL may be dialled; nil for one whose host is neither an address that
    /// is not public nor this machine by name.
    package static func ranges(to url: UpstreamURL) -> (what: String, ranges: [String])? {
        if let address = url.address {
            return SpecialAddresses.find(address).map { ($0.what, [$0.range]) }
        }
        guard url.host == "localhost" || url.host.hasSuffix(".localhost") else { return nil }
        return ("this machine", ["127.0.0.0/8", "::1/128"])
    }
}
