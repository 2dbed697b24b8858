import Glibc
import RelayPosix

/// A connection to the relay, used by one thread at a time.
struct ClientConnection: ~Copyable {
    private let socket: FileDescriptor
    let path: String
    /// Of everything that is done from now on.
    var deadline: Int64
    /// A socket for whose other end it is used; nil where nobody else waits.
    var caller: Int32?

    var raw: Int32 { socket.raw }

    /// Asks `reason` why to give up while there is no socket to hang up.
    init(
        path: String,
        deadline: Int64,
        unless reason: () -> Canceller.Reason?
    ) throws(RelayClientError) {
        self.path = path
        self.deadline = deadline
        while true {
            switch Socket.connect(to: .unix(path: path)) {
            case .connected(let socket):
                self.socket = socket
                return
            case .underway(let socket):
                self.socket = socket
                return
            case .failed(let error):
                // A full backlog: the kernel offers no way to wait for room (unix(7)).
                guard error.rawValue == EAGAIN else { throw ClientConnection.error(error, path: path) }
                if let reason = reason() { throw .neverSent(reason) }
                guard SystemClock.monotonic() < deadline else {
                    let words = "cannot reach \(path) in time: its backlog is full"
                    throw RelayClientError(.timedOut, words, sent: .neverSent)
                }
                _ = poll(nil, 0, 5)
            }
        }
    }

    /// Sends all of it.
    ///
    /// - Returns: false when the relay began to answer or hung up first; its answer is then to be read.
    func send(_ bytes: [UInt8]) throws(RelayClientError) -> Bool {
        var sent = 0
        while sent < bytes.count {
            switch Socket.send(raw, bytes.span.extracting(sent...)) {
            case .bytes(let count): sent += count
            case .failed: return false
            case .wouldBlock:
                if try wait(for: Int16(POLLOUT) | Int16(POLLIN)) & Int16(POLLIN) != 0 { return false }
            }
        }
        return true
    }

    /// Appends what arrives next.
    ///
    /// - Returns: false at the end of the stream.
    func receive(into buffer: inout [UInt8]) throws(RelayClientError) -> Bool {
        while true {
            switch Socket.receive(raw, behind: &buffer, most: 65_536) {
            case .bytes: return true
            case .end: return false
            case .wouldBlock: _ = try wait(for: Int16(POLLIN))
            case .failed(let reason):
                throw RelayClientError(.connectionLost, "the connection to \(path) broke: \(reason)")
            }
        }
    }

    /// Waits for one of `events`, or for the other end to be gone, which counts as readable.
    private func wait(for events: Int16) throws(RelayClientError) -> Int16 {
        while true {
            let left = deadline - SystemClock.monotonic()
            guard left > 0 else {
                throw RelayClientError(.timedOut, "the relay at \(path) did not answer in time")
            }
            // The kernel passes over a descriptor below zero.
            var entries = [
                pollfd(fd: raw, events: events, revents: 0),
                pollfd(fd: caller ?? -1, events: ClientConnection.hangUp, revents: 0),
            ]
            let milliseconds = Int32(clamping: left / 1_000_000 + 1)
            guard unsafe poll(&entries, 2, milliseconds) > 0 else { continue }
            guard entries[1].revents == 0 else { throw .hungUp(.cancelled) }
            let revents = entries[0].revents
            return revents & Int16(POLLHUP | POLLERR) != 0 ? Int16(POLLIN) : revents
        }
    }

    /// POLLRDHUP, which Glibc's headers show to those alone that ask for it.
    private static let hangUp: Int16 = 0x2000

    private static func error(_ reason: Errno, path: String) -> RelayClientError {
        switch reason.rawValue {
        case ENOENT: RelayClientError(.notReachable, "cannot reach \(path): there is no such socket")
        case ECONNREFUSED: RelayClientError(.notReachable, "cannot reach \(path): nobody listens on it")
        case EACCES, EPERM: RelayClientError(.notAllowed, "cannot reach \(path): permission denied")
        default: RelayClientError(.notReachable, "cannot reach \(path): \(reason)")
        }
    }
}
