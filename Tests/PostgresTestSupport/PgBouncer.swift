import Glibc
import RelayPosix
package import RelayPostgres
import Synchronization

/// Debian's PgBouncer in transaction mode before a server, on a Unix socket and a port of its own.
package final class PgBouncer: Sendable {
    package let folder: String
    package let port: Int
    private let caretaker: Caretaker

    private static let started = Mutex<PgBouncer?>(nil)

    /// The one before the server that tests share.
    package static func shared() async throws -> PgBouncer {
        let server = try await PostgresServer.shared()
        return try await offPool {
            try started.withLock { pooler in
                if let pooler { return pooler }
                let made = try PgBouncer(before: server, connections: 40)
                pooler = made
                return made
            }
        }
    }

    /// Before that server, with so many connections to it for each database and user.
    package init(before server: PostgresServer, connections: Int = 20) throws {
        let program = "/usr/sbin/pgbouncer"
        guard unsafe access(program, X_OK) == 0 else {
            throw ProgramError("PgBouncer is not in \(program): deploy/install-packages --tests installs it")
        }
        port = try PostgresServer.freePort()
        // A folder of the server's, which goes with it.
        folder = "\(server.folder)/pgbouncer-\(port)"
        let words = ChildProgram.unprivileged
        try ChildProgram.run(words + ["mkdir", folder], in: "/")
        caretaker = try Caretaker(
            """
            pid=$(cat "$1/pid")
            [ "$(cat "/proc/$pid/comm")" != pgbouncer ] || kill -KILL "$pid"
            rm -rf "$1"
            """,
            [folder]
        )
        let settings = """
            [databases]
            * = host=\(server.folder) port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir = \(folder)
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = transaction
            default_pool_size = \(connections)
            max_client_conn = 500
            pidfile = \(folder)/pid
            logfile = \(folder)/log

            """
        for (name, text) in [("ini", settings), ("users", "\"relay\" \"\"\n")] {
            try ChildProgram.run(words + ["tee", "\(folder)/\(name)"], in: "/", input: text)
        }
        try ChildProgram.run(words + [program, "-q", "-d", "\(folder)/ini"], in: "/")
        // It goes into the background before it listens.
        for _ in 0..<3_000 {
            if case .connected = Socket.connect(to: .unix(path: "\(folder)/.s.PGSQL.\(port)")) { return }
            _ = poll(nil, 0, 10)
        }
        throw ProgramError("PgBouncer does not listen after thirty seconds")
    }

    /// Settings for its socket.
    package func settings(database: String = "postgres", schema: String = "public") -> PostgresSettings {
        PostgresSettings(
            host: folder,
            port: port,
            database: database,
            user: "relay",
            schema: schema,
            isPooled: true
        )
    }
}
