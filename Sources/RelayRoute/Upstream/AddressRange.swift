public import RelayBase

/// A CIDR range of IPv4 or IPv6 addresses.
public struct AddressRange: Hashable, Sendable {
    /// Four or sixteen bytes, network order.
    public let network: [UInt8]
    /// Leading bits that count: 0…32 or 0…128.
    public let prefix: Int

    /// Takes four or sixteen bytes; nil for another number, and for a prefix longer than the address.
    public init?(network: [UInt8], prefix: Int) {
        guard network.count == 4 || network.count == 16, (0...network.count * 8).contains(prefix) else {
            return nil
        }
        self.network = network
        self.prefix = prefix
    }

    /// Whether the address, four or sixteen bytes in network order, is in the range.
    public func contains(_ address: [UInt8]) -> Bool {
        guard address.count == network.count else { return false }
        let whole = prefix / 8
        guard address[..<whole].elementsEqual(network[..<whole]) else { return false }
        let rest = prefix % 8
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return address[whole] & mask == network[whole] & mask
    }
}

extension AddressRange {
    /// Reads `10.0.0.0/8` or `::1/128`.
    ///
    /// - Throws: also when bits beyond the prefix are set, since then it is not clear what is meant.
    public init(parsing text: String) throws(Refusal) {
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
