import CLinux
import Glibc

/// The process at the other end of a Unix socket, as it was when it connected.
package struct PeerCredentials: Hashable, Sendable {
    package let process: Int32
    package let user: UInt32
    package let group: UInt32
    /// Supplementary groups, in the kernel's order.
    package let groups: [UInt32]

    package init(of descriptor: Int32) throws(PosixError) {
        var peer = relay_peer()
        var length = socklen_t(MemoryLayout<relay_peer>.size)
        try PosixError.check(
            "getsockopt SO_PEERCRED",
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length)
        )
        process = peer.process
        user = peer.user
        group = peer.group
        groups = try Self.groups(of: descriptor)
    }

    private static func groups(of descriptor: Int32) throws(PosixError) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 32)
        // The kernel allows 65,536 groups; the second round has the count the first was told.
        for _ in 0..<2 {
            var length = socklen_t(groups.count * 4)
            let result = unsafe getsockopt(
                descriptor,
                SOL_SOCKET,
                Int32(relay_so_peergroups),
                &groups,
                &length
            )
            if result == 0 { return Array(groups.prefix(Int(length) / 4)) }
            guard errno == ERANGE, length <= 4 * 65_536 else { break }
            groups = Array(repeating: 0, count: Int(length) / 4)
        }
        throw PosixError("getsockopt SO_PEERGROUPS", .current)
    }
}
