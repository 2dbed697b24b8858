import CLinux
import Glibc

/// The user whose program is at the other end of a connection within this machine, as the kernel has it (sock_diag(7)).
package enum ConnectionOwner {
    /// The user whose program holds the socket at `near` that is connected to `far`; nil where there is none.
    ///
    /// A socket that was closed already has no owner that could be believed, so that only those count which are
    /// connected, or whose other end alone has finished.
    package static func user(of near: SocketAddress, to far: SocketAddress) throws(PosixError) -> UInt32? {
        guard let question = question(near, far) else { return nil }
        let netlink = FileDescriptor(
            try PosixError.check(
                "socket AF_NETLINK",
                socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), sockDiag)
            )
        )
        try PosixError.check(
            "send to sock_diag",
            Int32(clamping: unsafe send(netlink.raw, question, question.count, 0))
        )
        var answer = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe recv(netlink.raw, &answer, answer.count, 0)
        try PosixError.check("receive from sock_diag", Int32(clamping: count))
        return try user(in: answer[..<count])
    }

    /// The message of sock_diag(7) that asks for one socket: nlmsghdr and inet_diag_req_v2; nil for anything but two
    /// Internet addresses.
    private static func question(_ near: SocketAddress, _ far: SocketAddress) -> [UInt8]? {
        guard case .ip(let near, let nearPort) = near, case .ip(let far, let farPort) = far else {
            return nil
        }
        let family = near.isV6 ? AF_INET6 : AF_INET
        var body: [UInt8] = [UInt8(family), UInt8(IPPROTO_TCP), 0, 0]
        append(UInt32.max, to: &body)
        append(nearPort.bigEndian, to: &body)
        append(farPort.bigEndian, to: &body)
        for address in [near, far] {
            if address.isV6 {
                append(address.high.bigEndian, to: &body)
                append(address.low.bigEndian, to: &body)
            } else {
                append(UInt32(truncatingIfNeeded: address.low).bigEndian, to: &body)
                body += [UInt8](repeating: 0, count: 12)
            }
        }
        // Any interface, and no cookie of the kernel's.
        append(UInt32(0), to: &body)
        append(UInt64.max, to: &body)
        var message: [UInt8] = []
        append(UInt32(16 + body.count), to: &message)
        append(byFamily, to: &message)
        append(UInt16(1), to: &message)
        append(UInt64(0), to: &message)
        return message + body
    }

    /// Reads nlmsghdr and inet_diag_msg.
    static func user(in answer: ArraySlice<UInt8>) throws(PosixError) -> UInt32? {
        let bytes = Array(answer)
        guard bytes.count >= 20 else { throw PosixError("sock_diag", Errno(rawValue: EPROTO)) }
        switch UInt16(number(bytes, 4, 2)) {
        case byFamily where bytes.count >= 84:
            return connected.contains(bytes[17]) ? UInt32(number(bytes, 80, 4)) : nil
        case error:
            let code = -Int32(truncatingIfNeeded: number(bytes, 16, 4))
            guard code == ENOENT else { throw PosixError("sock_diag", Errno(rawValue: code)) }
            return nil
        default: throw PosixError("sock_diag", Errno(rawValue: EPROTO))
        }
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }
    }

    /// In the order of the machines that this is built for, which netlink has: the lowest byte first.
    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
    }

    /// NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY and NLMSG_ERROR.
    private static let sockDiag: Int32 = 4
    private static let byFamily: UInt16 = 20
    private static let error: UInt16 = 2
    /// TCP_ESTABLISHED and TCP_CLOSE_WAIT.
    private static let connected: [UInt8] = [1, 8]
}
