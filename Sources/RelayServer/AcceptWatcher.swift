import RelayCore
import RelayEngine
import RelayPosix

/// Takes connections off one listener.
final class AcceptWatcher: Watcher {
    private unowned let server: LoopServer
    private let listener: ListenerIdentity
    private lazy var pause = LoopTimer { [unowned self] in loop.watch(self, for: .readable) }

    init(server: LoopServer, listener: ListenerIdentity) {
        self.server = server
        self.listener = listener
        super.init(loop: server.loop)
    }

    func close() {
        loop.cancel(pause)
        loop.remove(self)
    }

    override func ready(_ events: Events) {
        // A bounded batch: the connections already open get their turn.
        for _ in 0..<64 {
            switch Socket.accept(descriptor) {
            case .wouldBlock: return
            case .failed(let reason):
                // Out of descriptors: the listener would report for ever, so it is left alone for a moment.
                if reason.isExhaustion {
                    loop.watch(self, for: [])
                    loop.schedule(pause, at: loop.now + 100_000_000)
                }
                return
            case .connection(let descriptor): open(descriptor)
            }
        }
    }

    private func open(_ descriptor: consuming FileDescriptor) {
        var client: ClientIdentity?
        if listener.isUnix {
            guard let peer = try? PeerCredentials(of: descriptor.raw) else { return }
            client = ClientIdentity(
                user: peer.user,
                group: peer.group,
                process: peer.process,
                groups: [peer.group] + peer.groups,
                unit: listener.unit(peer.process)
            )
        } else {
            Socket.setNoDelay(descriptor.raw)
        }
        let mayEnter = server.connectionCount.enter()
        let connection = Connection(server: server, listener: listener, client: client, hasPlace: mayEnter)
        do throws(PosixError) {
            try loop.add(connection, descriptor)
        } catch {
            if mayEnter { server.connectionCount.leave() }
            return
        }
        server.opened(connection)
        guard mayEnter else {
            var problem = Problem(
                .overloaded,
                "the relay has as many connections as limits.max_connections allows"
            )
            problem.retryAfter = .seconds(1)
            return connection.refuse(problem)
        }
        guard listener.users.isEmpty || client.map({ listener.users.contains($0.user) }) ?? false else {
            // Who is at the other end of a TCP connection is not known, and so is on no list.
            let who = client.map { "uid \($0.user)" } ?? "a caller without peer credentials"
            return connection.refuse(
                Problem(.notAllowed, "the listener's allow_users does not name you (\(who))")
            )
        }
    }
}
