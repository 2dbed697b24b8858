package import RelayPosix
package import RelayRoute

/// Which addresses may be dialled when a name, or a configuration's author, asks for them.
///
/// A name under somebody else's control must not open the host's own network, so everything the registries
/// set aside (RFC 6890 and its updates) is refused unless the upstream allows the address by range.
package enum AddressPolicy {
    /// Why `address` may not be dialled; nil when it may.
    ///
    /// Where the upstream `isConfined`, it may only when it is allowed.
    package static func prohibition(
        of address: IPAddress,
        allowed: [AddressRange],
        isConfined: Bool = false
    ) -> String? {
        let found = address.isV6 ? prohibitionV6(address) : prohibitionV4(address.low)
        guard let reason = found ?? (isConfined ? "public, and a credential goes there unencrypted" : nil)
        else {
            return nil
        }
        if allowed.isEmpty { return reason }
        let bytes = address.bytes
        if allowed.contains(where: { $0.contains(bytes) }) { return nil }
        // A mapped address is dialled as IPv4, so a range of IPv4 speaks for it.
        if address.high == 0, address.low >> 32 == 0xFFFF, address.isV6 {
            let inner = IPAddress(v4: UInt32(truncatingIfNeeded: address.low)).bytes
            if allowed.contains(where: { $0.contains(inner) }) { return nil }
        }
        return reason
    }

    private static func prohibitionV4(_ address: UInt64) -> String? {
        for range in rangesV4 where (address ^ range.network) >> (32 - range.prefix) == 0 {
            return range.reason
        }
        return nil
    }

    private static func prohibitionV6(_ address: IPAddress) -> String? {
        for range in rangesV6 where contains(range, address) { return range.reason }
        guard let inner = embeddedV4(address) else { return nil }
        return prohibitionV4(inner)
    }

    private static func contains(_ range: RangeV6, _ address: IPAddress) -> Bool {
        if range.prefix <= 64 { return (address.high ^ range.high) >> (64 - range.prefix) == 0 }
        return address.high == range.high && (address.low ^ range.low) >> (128 - range.prefix) == 0
    }

    /// The IPv4 address a gateway or the kernel would take out of an IPv6 one.
    private static func embeddedV4(_ address: IPAddress) -> UInt64? {
        let low = address.low & 0xFFFF_FFFF
        // ::ffff:0:0/96 mapped, ::/96 compatible (RFC 4291 §2.5.5).
        if address.high == 0, address.low >> 32 == 0xFFFF || address.low >> 32 == 0 { return low }
        // ::ffff:0:0:0/96, translated (RFC 2765).
        if address.high == 0, address.low >> 32 == 0xFFFF_0000 { return low }
        // 64:ff9b::/96, NAT64 (RFC 6052).
        if address.high == 0x0064_FF9B_0000_0000, address.low >> 32 == 0 { return low }
        // 2002::/16, 6to4 (RFC 3056): the IPv4 address follows the prefix.
        if address.high >> 48 == 0x2002 { return address.high >> 16 & 0xFFFF_FFFF }
        return nil
    }

    private struct RangeV4 {
        let network: UInt64
        let prefix: Int
        let reason: String
    }

    private struct RangeV6 {
        let high: UInt64
        let low: UInt64
        let prefix: Int
        let reason: String
    }

    private static let rangesV4: [RangeV4] = [
        RangeV4(network: 0x0000_0000, prefix: 8, reason: "unspecified"),
        RangeV4(network: 0x0A00_0000, prefix: 8, reason: "private"),
        RangeV4(network: 0x6440_0000, prefix: 10, reason: "shared by carriers"),
        RangeV4(network: 0x7F00_0000, prefix: 8, reason: "loopback"),
        RangeV4(network: 0xA9FE_0000, prefix: 16, reason: "link-local"),
        RangeV4(network: 0xAC10_0000, prefix: 12, reason: "private"),
        RangeV4(network: 0xC000_0000, prefix: 24, reason: "set aside for protocols"),
        RangeV4(network: 0xC000_0200, prefix: 24, reason: "for documentation"),
        RangeV4(network: 0xC058_6300, prefix: 24, reason: "a 6to4 relay"),
        RangeV4(network: 0xC0A8_0000, prefix: 16, reason: "private"),
        RangeV4(network: 0xC612_0000, prefix: 15, reason: "for benchmarks"),
        RangeV4(network: 0xC633_6400, prefix: 24, reason: "for documentation"),
        RangeV4(network: 0xCB00_7100, prefix: 24, reason: "for documentation"),
        RangeV4(network: 0xE000_0000, prefix: 4, reason: "multicast"),
        RangeV4(network: 0xF000_0000, prefix: 4, reason: "reserved or broadcast"),
    ]

    private static let rangesV6: [RangeV6] = [
        RangeV6(high: 0, low: 0, prefix: 128, reason: "unspecified"),
        RangeV6(high: 0, low: 1, prefix: 128, reason: "loopback"),
        // 64:ff9b:1::/48, NAT64 within one network (RFC 8215).
        RangeV6(high: 0x0064_FF9B_0001_0000, low: 0, prefix: 48, reason: "translated to a local network"),
        RangeV6(high: 0x0100_0000_0000_0000, low: 0, prefix: 64, reason: "for discarding"),
        // 2001::/23 holds Teredo, benchmarks and ORCHID (RFC 2928).
        RangeV6(high: 0x2001_0000_0000_0000, low: 0, prefix: 23, reason: "set aside for protocols"),
        RangeV6(high: 0x2001_0DB8_0000_0000, low: 0, prefix: 32, reason: "for documentation"),
        RangeV6(high: 0x3FFF_0000_0000_0000, low: 0, prefix: 20, reason: "for documentation"),
        RangeV6(high: 0x5F00_0000_0000_0000, low: 0, prefix: 16, reason: "for segment routing"),
        RangeV6(high: 0xFC00_0000_0000_0000, low: 0, prefix: 7, reason: "unique local"),
        RangeV6(high: 0xFE80_0000_0000_0000, low: 0, prefix: 10, reason: "link-local"),
        RangeV6(high: 0xFEC0_0000_0000_0000, low: 0, prefix: 10, reason: "site-local"),
        RangeV6(high: 0xFF00_0000_0000_0000, low: 0, prefix: 8, reason: "multicast"),
    ]
}
