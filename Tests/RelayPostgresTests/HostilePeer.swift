import Glibc
import RelayPosix
import RelayPostgres
import Synchronization

/// A peer on the loopback interface that plays a server as its script says, to one client after the other.
final class HostilePeer: Sendable {
    let port: UInt16
    /// Bytes that clients have taken.
    let sent: Mutex<Int>

    /// The peer's part once it has read the client's first message.
    typealias Script = @Sendable (Session) -> Void

    struct Session {
        let descriptor: Int32
        let peer: HostilePeer

        /// False where the client takes no more.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            guard writeAll(bytes, to: descriptor) else { return false }
            peer.sent.withLock { $0 += bytes.count }
            return true
        }

        /// Waits for whatever comes next; false at the end.
        @discardableResult
        func receive() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            return unsafe Glibc.recv(descriptor, &buffer, buffer.count, 0) > 0
        }

        /// Waits until the client has gone.
        func waitForEnd() { while receive() {} }

        func greet() { send(HostilePeer.greeting) }
    }

    /// The answer to the settings with which each batch of a pooler's session begins.
    static let settings =
        message("1", []) + message("2", []) + message("n", [])
        + message("C", Array("SELECT 1".utf8) + [0])

    /// The answers of PostgreSQL 15 to a start that needs no password, up to its readiness.
    static let greeting: [UInt8] = {
        var bytes = message("R", [0, 0, 0, 0])
        for (name, value) in [
            ("server_version", "15.0"), ("in_hot_standby", "off"),
            ("default_transaction_read_only", "off"),
            ("client_encoding", "UTF8"), ("standard_conforming_strings", "on"),
        ] {
            bytes += message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
        }
        return bytes + message("K", [0, 0, 0, 1, 0, 0, 0, 2]) + message("Z", Array("I".utf8))
    }()

    init(_ script: @escaping Script) throws {
        let listener = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
        guard case .ip(_, let port)? = Socket.localAddress(listener.raw) else { throw NoFailure() }
        self.port = port
        sent = Mutex(0)
        let raw = listener.release()
        try startDetachedThread("peer") { [self] in
            // One client is enough for a test.
            var entry = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
            unsafe _ = poll(&entry, 1, 60_000)
            let client = accept(raw, nil, nil)
            close(raw)
            guard client >= 0 else { return }
            let session = Session(descriptor: client, peer: self)
            session.receive()
            script(session)
            close(client)
        }
    }

    var settings: PostgresSettings {
        PostgresSettings(
            host: "127.0.0.1",
            port: Int(port),
            database: "d",
            user: "u",
            password: { "secret" },
            schema: "public"
        )
    }
}

/// A message of the protocol, which may say that it is longer than it is.
func message(_ kind: Character, _ bytes: [UInt8], length: Int? = nil) -> [UInt8] {
    let length = UInt32(length ?? bytes.count + 4)
    let header = (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * $0)) }
    return [kind.asciiValue ?? 0] + header + bytes
}
