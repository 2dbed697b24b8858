import CLinux
import Glibc

/// An IPv4 or IPv6 address, without allocation.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes of an IPv6 address, as a big-endian number; zero for IPv4.
    package let high: UInt64
    /// The last eight bytes of an IPv6 address, or the four of an IPv4 one.
    package let low: UInt64
    package let isV6: Bool

    package init(v4: UInt32) {
        high = 0
        low = UInt64(v4)
        isV6 = false
    }

    package init(v6 high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
        isV6 = true
    }

    /// Reads dotted decimal or RFC 4291 text, without brackets, zone or any of the older spellings of IPv4.
    package init?(_ text: String) {
        if text.utf8.contains(UInt8(ascii: ":")) {
            var raw = in6_addr()
            guard unsafe inet_pton(AF_INET6, text, &raw) == 1 else { return nil }
            self.init(raw)
        } else {
            var raw = in_addr()
            guard unsafe inet_pton(AF_INET, text, &raw) == 1 else { return nil }
            self.init(v4: UInt32(bigEndian: raw.s_addr))
        }
    }

    init(_ raw: in6_addr) {
        let words = unsafe withUnsafeBytes(of: raw) { bytes in
            unsafe (
                bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self.init(v6: UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
    }

    /// Four or sixteen bytes, network order.
    package var bytes: [UInt8] {
        if isV6 {
            return (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - $0 % 8 * 8)) }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - $0 * 8)) }
    }

    /// The canonical text (RFC 5952 for IPv6), without brackets.
    package var description: String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let capacity = socklen_t(text.count)
            if isV6 {
                var raw = in6
                unsafe inet_ntop(AF_INET6, &raw, text.baseAddress, capacity)
            } else {
                var raw = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
                unsafe inet_ntop(AF_INET, &raw, text.baseAddress, capacity)
            }
            guard let start = text.baseAddress else { return "" }
            return unsafe String(cString: start)
        }
    }

    var in6: in6_addr {
        var raw = in6_addr()
        unsafe withUnsafeMutableBytes(of: &raw) { bytes in
            unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return raw
    }
}
