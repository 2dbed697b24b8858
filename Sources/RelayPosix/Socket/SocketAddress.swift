import CLinux
import Glibc

/// Where a stream socket listens or connects.
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    case ip(IPAddress, port: UInt16)
    /// A path of at most 107 bytes.
    case unix(path: String)

    /// `192.0.2.1:80`, `[2001:db8::1]:80` or `unix:/path`.
    package var description: String {
        switch self {
        case .ip(let address, let port): address.isV6 ? "[\(address)]:\(port)" : "\(address):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    var family: Int32 {
        switch self {
        case .ip(let address, _): address.isV6 ? AF_INET6 : AF_INET
        case .unix: AF_UNIX
        }
    }

    /// Lends the kernel's form of the address; nil when a path does not fit.
    func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        var storage = sockaddr_storage()
        let length = unsafe withUnsafeMutableBytes(of: &storage) { unsafe fill($0) }
        guard let length else { return nil }
        return unsafe withUnsafePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    private func fill(_ bytes: UnsafeMutableRawBufferPointer) -> socklen_t? {
        switch self {
        case .ip(let address, let port) where address.isV6:
            var raw = sockaddr_in6()
            raw.sin6_family = sa_family_t(AF_INET6)
            raw.sin6_port = port.bigEndian
            raw.sin6_addr = address.in6
            unsafe bytes.storeBytes(of: raw, as: sockaddr_in6.self)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        case .ip(let address, let port):
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = port.bigEndian
            raw.sin_addr = in_addr(s_addr: UInt32(truncatingIfNeeded: address.low).bigEndian)
            unsafe bytes.storeBytes(of: raw, as: sockaddr_in.self)
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        case .unix(let path):
            let text = Array(path.utf8)
            // sun_path has 108 bytes, one of them for the terminating zero; a zero inside would cut the path.
            guard !text.isEmpty, text.count < 108, !text.contains(0) else { return nil }
            unsafe bytes.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
            for (index, byte) in text.enumerated() { unsafe bytes[2 + index] = byte }
            return socklen_t(2 + text.count + 1)
        }
    }

    /// Reads an Internet address as the kernel wrote it; nil for any other family.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            let raw = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            self = .ip(
                IPAddress(v4: UInt32(bigEndian: raw.sin_addr.s_addr)),
                port: UInt16(bigEndian: raw.sin_port)
            )
        case AF_INET6:
            let raw = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            self = .ip(IPAddress(raw.sin6_addr), port: UInt16(bigEndian: raw.sin6_port))
        default: return nil
        }
    }
}
