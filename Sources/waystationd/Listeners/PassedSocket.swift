import Glibc
import RelayConfig
import RelayPosix
import RelaySystemd

/// A socket of the service manager's: its unit says where it stands and who may open it, and the configuration nothing.
enum PassedSocket {
    /// The setting of `listener` that the socket does not keep to, in words; nil when it keeps to all.
    static func difference(_ listener: RelayConfig.Listener, _ socket: ActivatedSockets.Listener) -> String? {
        guard case .unix(let path, let mode, let group) = listener.address, socket.family == .unix else {
            return nil
        }
        let name = "the socket of the listener \(listener.name)"
        guard socket.stands(at: path) else {
            return "\(name) stands where its unit says (ListenStream=), and not at \(path)"
        }
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        let real = facts.st_mode & 0o777
        if real & ~mode != 0 {
            return "\(name) has the mode 0\(String(real, radix: 8)) of its unit (SocketMode=), and not 0"
                + String(mode, radix: 8)
        }
        if let group, let wanted = Accounts.group(group), wanted != facts.st_gid {
            return
                "\(name) belongs to the group \(facts.st_gid) of its unit (SocketGroup=), and not to \(group)"
        }
        return nil
    }
}
