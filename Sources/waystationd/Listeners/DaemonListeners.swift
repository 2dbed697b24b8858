import Glibc
import RelayBase
import RelayConfig
import RelayPosix
import RelayServer
import RelaySystemd

/// The sockets callers connect to: the service manager's where it gave some of that name, our own otherwise.
struct DaemonListeners: ~Copyable {
    private var open: [(identity: ListenerIdentity, descriptor: Int32)] = []
    /// Paths that are ours to remove.
    private(set) var ownPaths: [String] = []
    /// The settings of the configuration that the sockets' units have otherwise, in words.
    private(set) var overridden: [String] = []

    init(_ listeners: [RelayConfig.Listener], activated: ActivatedSockets) throws(StartError) {
        for listener in listeners {
            let given = activated.named(listener.name)
            let identity = ListenerIdentity(
                name: listener.name,
                role: listener.role,
                users: listener.allowedUsers,
                isUnix: DaemonListeners.isUnix(listener, given),
                unit: { unitOfProcess($0) }
            )
            if given.isEmpty {
                open.append((identity, try DaemonListeners.bind(listener, &ownPaths)))
            } else {
                for socket in given { open.append((identity, socket.descriptor)) }
                overridden += given.compactMap { PassedSocket.difference(listener, $0) }
            }
        }
    }

    /// A copy of every listener for one loop.
    func copies() throws(StartError) -> [(identity: ListenerIdentity, descriptor: Int32)] {
        var copies: [(identity: ListenerIdentity, descriptor: Int32)] = []
        for (identity, descriptor) in open {
            let copy = Glibc.fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0, Glibc.fcntl(copy, F_SETFL, O_NONBLOCK) == 0 else {
                throw StartError(message: "cannot copy the listener \(identity.name): \(Errno.current)")
            }
            copies.append((identity.copy(), copy))
        }
        return copies
    }

    /// Leaves the sockets to the loops' copies: when the last loop lets go of one, callers are refused instead of
    /// waiting for somebody who accepts no more.
    consuming func close() {
        for (_, descriptor) in open { _ = Glibc.close(descriptor) }
    }

    private static func isUnix(_ listener: RelayConfig.Listener, _ given: [ActivatedSockets.Listener]) -> Bool
    {
        if let first = given.first { return first.family == .unix }
        if case .unix = listener.address { return true }
        return false
    }

    private static func bind(
        _ listener: RelayConfig.Listener,
        _ ownPaths: inout [String]
    ) throws(StartError) -> Int32 {
        switch listener.address {
        case .unix(let path, let mode, let group):
            let owner = try group.map { name throws(StartError) in try self.group(name, listener) }
            let descriptor = try opened(listener) { () throws(PosixError) in
                try RelayPosix.Listener.unix(path, mode: mode, group: owner).release()
            }
            ownPaths.append(path)
            return descriptor
        case .tcp(let endpoint):
            guard let address = IPAddress(endpoint.host) else {
                throw StartError(message: "the listener \(listener.name) has no address that can be bound")
            }
            return try opened(listener) { () throws(PosixError) in
                try RelayPosix.Listener.tcp(address, port: endpoint.port).release()
            }
        }
    }

    private static func group(_ name: String, _ listener: RelayConfig.Listener) throws(StartError) -> UInt32 {
        guard let id = Accounts.group(name) else {
            throw StartError(
                message:
                    "the listener \(listener.name) wants the group \"\(name)\", which does not exist: make it"
                    + " (groupadd --system \(name)) or leave out \"group\""
            )
        }
        return id
    }

    private static func opened(
        _ listener: RelayConfig.Listener,
        _ open: () throws(PosixError) -> Int32
    ) throws(StartError) -> Int32 {
        do throws(PosixError) {
            return try open()
        } catch {
            throw StartError(message: "cannot open the listener \(listener.name): \(error)")
        }
    }
}
