import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
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
        // Every loop has a copy, and the service manager keeps the one it passed in.
        isShared = true
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
        // The last descriptors belong to the operator, and to the work that is under way.
        if listener.door == .shared, DescriptorReserve.ofProcess.contains(descriptor.raw) {
            server.limiter.turnedAway()
            return reject(descriptor, AcceptWatcher.noDescriptor)
        }
        var peer: PeerCredentials?
        if listener.isUnix {
            guard let found = try? PeerCredentials(of: descriptor.raw) else { return }
            peer = found
        } else {
            Socket.setNoDelay(descriptor.raw)
        }
        let slot: ConnectionLimiter.Slot
        do throws(ConnectionLimitMachine.Refusal) {
            slot = try server.limiter.enter(user: peer?.user, by: listener.door)
        } catch {
            return hear(descriptor, error.problem(peer?.user))
        }
        let client = peer.map { peer in
            ClientIdentity(
                user: peer.user,
                process: peer.process,
                groups: [peer.group] + peer.groups,
                unit: listener.unit(peer.process),
                on: server.usersNode
            )
        }
        let share = listener.door == .shared ? server.engine.callers.enter(peer?.user) : nil
        if let share { server.limiter.note(share) }
        let connection = Connection(
            server: server,
            listener: listener,
            client: client,
            slot: slot,
            share: share
        )
        guard add(connection, descriptor) != nil else {
            if let share { server.engine.callers.release(share) }
            return server.limiter.release(slot)
        }
        guard listener.users.isEmpty || client.map({ listener.users.contains($0.user) }) ?? false else {
            // The user at the other end of a TCP connection is not known, and so is on no list.
            let who = client.map { "uid \($0.user)" } ?? "a caller without peer credentials"
            return connection.refuse(
                Problem(.notAllowed, "the listener's allow_users does not name you (\(who))")
            )
        }
    }

    private func add(_ connection: Connection, _ descriptor: consuming FileDescriptor) -> Connection? {
        do throws(PosixError) {
            try loop.add(connection, descriptor)
        } catch {
            return nil
        }
        server.opened(connection)
        return connection
    }

    /// Hears what a caller asks that has no place, and then says why not: an answer to nothing is taken for a fault by
    /// some, and one whose caller is still writing gets lost.
    private func hear(_ descriptor: consuming FileDescriptor, _ problem: Problem) {
        let connection = Connection(server: server, listener: listener, client: nil, slot: nil)
        server.endOldestRefusals()
        guard add(connection, descriptor) != nil else { return }
        server.refusals.append((connection, problem))
        connection.awaitRefusal()
    }

    /// Says why and closes, without another look at what the caller sends.
    private func reject(_ descriptor: consuming FileDescriptor, _ problem: Problem) {
        let raw = descriptor.raw
        server.output.compose { output in
            let answer = Answer(problem)
            listener.cells.count(answer.status)
            guard case .bytes(let body) = answer.body else { return }
            AnswerWriter(server: server, keepsAlive: false)
                .append(answer.head, .length(UInt64(body.count)), to: &output)
            output.append(body)
            _ = output.withSpan { Socket.send(raw, $0) }
        }
        Socket.finishSending(raw)
        descriptor.close()
    }

    /// The problem for a connection without a place whose own reason is gone.
    static let noSlot = Problem(
        .overloaded,
        "the relay has as many connections as it may",
        retryAfter: .seconds(1)
    )

    private static let noDescriptor: Problem = {
        Problem(
            .overloaded,
            "the relay has as many open files as it may; the rest are kept for operators (LimitNOFILE= of the unit)",
            retryAfter: .seconds(1)
        )
    }()
}

extension ConnectionLimitMachine.Refusal {
    private static func who(_ user: UInt32?) -> String {
        user.map { "uid \($0) has" } ?? "callers of ports have"
    }

    /// The problem that the user is told.
    fileprivate func problem(_ user: UInt32?) -> Problem {
        let detail =
            switch self {
            case .full(let limit):
                "the relay has as many connections as limits.max_connections allows (\(limit))"
            case .listener(let limit): "the listener has as many connections as it may (\(limit))"
            case .share(let limit):
                Self.who(user) + " as many connections as limits.per_user.max_connections allows (\(limit))"
            case .remainder(let limit):
                Self.who(user) + " \(limit) connections, as many as others leave it: half of the rest of "
                    + "limits.max_connections, and of the last places one (limits.per_user.max_connections)"
            }
        return Problem(.overloaded, detail, retryAfter: .seconds(1))
    }
}
