import RelayCore

/// IP addresses as text: only the forms that mean one thing everywhere.
package enum AddressText {
    /// Reads `192.0.2.1` or `2001:db8::1`, without brackets, zone or leading zeros in the dotted form.
    ///
    /// - Returns: four or sixteen bytes in network order.
    package static func parse(_ text: some StringProtocol) -> [UInt8]? {
        text.utf8.contains(UInt8(ascii: ":")) ? parseIPv6(text) : parseIPv4(text)
    }

    private static func parseIPv4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
                part.utf8.count == 1 || part.utf8.first != UInt8(ascii: "0"), let byte = UInt8(part)
            else { return nil }
            address.append(byte)
        }
        return address
    }

    /// RFC 4291 §2.2: groups of hexadecimal digits, `::` at most once, the last 32 bits dotted if wanted.
    private static func parseIPv6(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count <= 45 else { return nil }
        var halves: [[UInt8]] = [[]]
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (3...9).contains(groups.count) else { return nil }
        for (index, group) in groups.enumerated() {
            if group.isEmpty {
                if index == 0 {
                    guard groups[1].isEmpty else { return nil }
                } else if index == groups.count - 1 {
                    guard groups[index - 1].isEmpty else { return nil }
                } else {
                    guard halves.count == 1 else { return nil }
                    halves.append([])
                }
            } else if group.utf8.contains(UInt8(ascii: ".")) {
                guard index == groups.count - 1, let dotted = parseIPv4(group) else { return nil }
                halves[halves.count - 1] += dotted
            } else {
                guard group.utf8.count <= 4, group.utf8.allSatisfy(isHexDigit),
                    let value = UInt16(group, radix: 16)
                else { return nil }
                halves[halves.count - 1] += [UInt8(value >> 8), UInt8(value & 0xFF)]
            }
        }
        let count = halves.reduce(0) { $0 + $1.count }
        guard halves.count == 2 else { return count == 16 ? halves[0] : nil }
        // "::" stands for at least one group of zeros.
        return count <= 14 ? halves[0] + [UInt8](repeating: 0, count: 16 - count) + halves[1] : nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}

extension AddressRange {
    /// Reads `10.0.0.0/8` or `::1/128`.
    ///
    /// - Throws: also when bits beyond the prefix are set, since then it is not clear what is meant.
    init(parsing text: String) throws(Refusal) {
        let expected = Refusal("expected a range of addresses such as \"10.0.0.0/8\" or \"::1/128\"")
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ AddressText.parse($0) }) else { throw expected }
        guard parts.count == 2 else {
            throw Refusal(expected.message, hint: "write \"\(text)/\(address.count * 8)\"")
        }
        guard !parts[1].isEmpty, parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy({ $0 &- 48 < 10 }),
            let prefix = Int(parts[1]), let range = AddressRange(network: address, prefix: prefix)
        else { throw expected }
        let hasHostBits = address.enumerated().contains { index, byte in
            let kept = min(max(prefix - index * 8, 0), 8)
            return byte & UInt8(truncatingIfNeeded: 0xFF >> kept) != 0
        }
        guard !hasHostBits else { throw Refusal("the address has bits set after its first \(prefix)") }
        self = range
    }
}

/// Addresses that are not the public internet's: an upstream there must be allowed by name.
enum SpecialAddresses {
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
