import Glibc
import RelayPosix

/// The places of the loopback where `waystation ui` listens: one port of 127.0.0.1, and of ::1 where there is one.
///
/// A name below localhost means both addresses to a browser, and it may try ::1 first: whoever had that port there would
/// get the link.
struct PageListeners: ~Copyable {
    let port: UInt16
    private let v4: FileDescriptor
    private let v6: FileDescriptor?

    /// How often another port is looked for that is free at both.
    private static let attempts = 32

    /// Port 0 takes any that is free; the number alone, without a name, needs 127.0.0.1 only.
    init(port: UInt16, isNumeric: Bool) throws(PosixError) {
        var left = port == 0 ? PageListeners.attempts : 1
        while true {
            left -= 1
            do throws(PosixError) {
                let v4 = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: port)
                guard case .ip(_, let bound)? = Socket.localAddress(v4.raw) else {
                    throw PosixError("getsockname", .current)
                }
                v6 = isNumeric ? nil : try PageListeners.second(bound)
                self.v4 = v4
                self.port = bound
                return
            } catch {
                guard left == 0 || error.errno.rawValue != EADDRINUSE else { continue }
                throw error
            }
        }
    }

    /// Nil where the machine has no ::1, so that nobody else can have the port there.
    private static func second(_ port: UInt16) throws(PosixError) -> FileDescriptor? {
        do throws(PosixError) {
            return try Listener.tcp(IPAddress(v6: 0, 1), port: port)
        } catch {
            guard [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errno.rawValue) else { throw error }
            return nil
        }
    }

    /// Waits for connections, and takes one of each place.
    ///
    /// - Returns: whether the kernel had no room for one.
    func accept(_ take: (Int32) -> Void) -> Bool {
        var places = [v4.raw]
        switch v6 {
        case .some(let v6): places.append(v6.raw)
        case .none: break
        }
        var entries = places.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&entries, nfds_t(entries.count), -1)
        var isOut = false
        for entry in entries where entry.revents != 0 {
            switch Socket.accept(entry.fd) {
            case .wouldBlock: continue
            case .failed: isOut = true
            case .connection(let socket): take(socket.release())
            }
        }
        return isOut
    }
}
