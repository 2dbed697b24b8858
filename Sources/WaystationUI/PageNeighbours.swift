import Glibc
import RelayPosix

/// The users whose programs may use the loopback port: the one who runs the command, the one it is for, and root.
///
/// A link can be seen by others of the machine before it is used, and so can a session where a browser shows it to
/// more than this port; both are of no use to them.
package struct PageNeighbours {
    /// The last is whom the page is for.
    let users: [UInt32]

    /// `user` is whom the page is for; without one, who typed the command.
    package init(for user: UInt32? = nil) {
        users = [0, geteuid(), user ?? PageNeighbours.caller(environment) ?? geteuid()]
    }

    init(users: [UInt32]) { self.users = users }

    /// The user who became another one to run the command, where sudo(8), run0(1), pkexec(1) or doas(1) has told.
    ///
    /// A caller that could write that into the environment could as well name the user by an option.
    static func caller(_ environment: (String) -> String?) -> UInt32? {
        for name in ["SUDO_UID", "PKEXEC_UID"] {
            if let user = environment(name).flatMap({ UInt32($0) }) { return user }
        }
        return environment("DOAS_USER").flatMap(Accounts.user)
    }

    /// The reason for a caller that may not come in; nil for one that may.
    func stranger(at descriptor: Int32) -> String? {
        guard let near = Socket.remoteAddress(descriptor), let far = Socket.localAddress(descriptor),
            case .ip(let theirs, _) = near, case .ip(let ours, _) = far, theirs == ours
        else { return "the connection comes from another address than it goes to, or has ended already" }
        do throws(PosixError) {
            let user = try ConnectionOwner.user(of: near, to: far)
            // Only while it is connected is nobody else's socket at those addresses.
            return refusal(of: Socket.remoteAddress(descriptor) == near ? user : nil)
        } catch {
            return "the kernel does not tell whose program this is, so that nobody can be let in: \(error)"
        }
    }

    func refusal(of user: UInt32?) -> String? {
        guard let user else { return "the kernel knows no program at the other end of this connection" }
        guard !users.contains(user) else { return nil }
        return "uid \(user) may not use a page that is open for uid \(users.last ?? 0); "
            + "waystation ui --for USER opens one for another user"
    }
}
