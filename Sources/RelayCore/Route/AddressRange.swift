/// A CIDR range of IPv4 or IPv6 addresses.
public struct AddressRange: Hashable, Sendable {
    /// Four or sixteen bytes, network order.
    public let network: [UInt8]
    /// Leading bits that count: 0…32 or 0…128.
    public let prefix: Int

    public init?(network: [UInt8], prefix: Int) {
        guard network.count == 4 || network.count == 16, (0...network.count * 8).contains(prefix) else {
            return nil
        }
        self.network = network
        self.prefix = prefix
    }

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
