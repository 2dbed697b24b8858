import Glibc
import RelayPosix
package import RelayPostgres
import Synchronization

/// A PostgreSQL 15 in a folder of its own, on a Unix socket there and on a port of the loopback interface with TLS.
///
/// It runs as a user without rights, with fsync, and is gone with its folder when this object or the process is, however the
/// process ends. The user `relay` is a superuser and needs no password on the socket; on the port everybody does.
package final class PostgresServer: Sendable {
    /// The folder of the Unix socket.
    package let folder: String
    package let port: Int
    package let certificates: ServerCertificates
    private let caretaker: Caretaker
    private let names = Atomic<Int>(0)

    private static let started = Result { try PostgresServer() }

    /// The one that tests share unless they stop it: started by the first that asks.
    package static func shared() async throws -> PostgresServer { try await offPool { try started.get() } }

    /// Starts another one, for a test that stops or kills it.
    package static func make() async throws -> PostgresServer { try await offPool { try PostgresServer() } }

    private static let programs = environment("POSTGRESQL_PROGRAMS") ?? "/usr/lib/postgresql/15/bin"

    private init() throws {
        guard unsafe access("\(Self.programs)/postgres", X_OK) == 0 else {
            throw ProgramError(
                "PostgreSQL 15 is not in \(Self.programs): deploy/install-packages --tests installs it,"
                    + " and POSTGRESQL_PROGRAMS names another folder"
            )
        }
        folder = try Self.makeFolder()
        caretaker = try Caretaker(
            """
            pid=$(head -n 1 "$1/data/postmaster.pid")
            [ "$(readlink "/proc/$pid/cwd")" != "$1/data" ] || kill -QUIT "$pid"
            for tenth in $(seq 50); do kill -0 "$pid" || break; sleep 0.1; done
            rm -rf "$1"
            """,
            [folder]
        )
        port = try Self.freePort()
        certificates = try ServerCertificates(in: folder)
        try call(
            "initdb",
            [
                "-D", "\(folder)/data", "-U", "relay", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8",
                "--no-sync", "--no-instructions",
            ]
        )
        try write("postgresql.auto.conf", Self.configuration(folder, port, certificates))
        try write("pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        try start()
    }

    /// In memory where the machine has such a place, as the folders of other tests.
    private static func makeFolder() throws -> String {
        let parent = unsafe access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/waystation-postgres-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw ProgramError("cannot make a folder below \(parent)")
        }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if geteuid() == 0, let user = unsafe getpwnam("nobody") {
            unsafe _ = chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
        }
        unsafe _ = chmod(folder, 0o755)
        return folder
    }

    /// A port that was free a moment ago.
    static func freePort() throws -> Int {
        let listener = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
        guard case .ip(_, let port)? = Socket.localAddress(listener.raw) else {
            throw ProgramError("no port")
        }
        return Int(port)
    }

    private static func configuration(
        _ folder: String,
        _ port: Int,
        _ certificates: ServerCertificates
    ) -> String {
        """
        listen_addresses = '127.0.0.1'
        port = \(port)
        unix_socket_directories = '\(folder)'
        max_connections = 500
        superuser_reserved_connections = 3
        shared_buffers = 64MB
        dynamic_shared_memory_type = mmap
        max_wal_size = 256MB
        fsync = on
        synchronous_commit = on
        ssl = on
        ssl_cert_file = '\(certificates.certificate)'
        ssl_key_file = '\(certificates.key)'

        """
    }

    private func write(_ name: String, _ text: String) throws {
        let file = unsafe open("\(folder)/data/\(name)", O_WRONLY | O_TRUNC)
        guard file >= 0 else { throw ProgramError("cannot write \(name)") }
        defer { close(file) }
        _ = writeAll(Array(text.utf8), to: file)
    }

    /// Runs a program of PostgreSQL as the server's user.
    @discardableResult
    package func call(_ program: String, _ words: [String], input: String = "") throws -> String {
        try ChildProgram.run(
            ChildProgram.unprivileged + ["\(Self.programs)/\(program)"] + words,
            in: folder,
            input: input
        )
    }
}

// MARK: Its databases

extension PostgresServer {
    /// Runs statements by psql, as a session beside those of the test, and gives the values of its rows.
    @discardableResult
    package func sql(_ text: String, in database: String = "postgres") throws -> String {
        let words = [
            "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", "\(port)", "-U", "relay",
        ]
        let output = try call("psql", words + ["-d", database, "-f", "-"], input: text)
        return String(output.last == "\n" ? output.dropLast() : output[...])
    }

    /// The server's log.
    package func log() throws -> String { try ChildProgram.run(["cat", "\(folder)/log"], in: folder) }

    /// The name of a new, empty database.
    package func makeDatabase() throws -> String {
        let name = "test_\(names.add(1, ordering: .relaxed).newValue)"
        try sql("CREATE DATABASE \(name)")
        return name
    }

    /// The name of a new, empty schema in a database.
    package func makeSchema(in database: String = "postgres") throws -> String {
        let name = "schema_\(names.add(1, ordering: .relaxed).newValue)"
        try sql("CREATE SCHEMA \(name)", in: database)
        return name
    }

    /// A user with a password, who may do everything.
    package func makeUser(password: String) throws -> String {
        let name = "user_\(names.add(1, ordering: .relaxed).newValue)"
        try sql("CREATE ROLE \(name) LOGIN SUPERUSER PASSWORD '\(password)'")
        return name
    }

    /// Settings for its socket.
    package func settings(database: String = "postgres", schema: String = "public") -> PostgresSettings {
        PostgresSettings(host: folder, port: port, database: database, user: "relay", schema: schema)
    }
}

// MARK: Its life

extension PostgresServer {
    /// Starts it, and waits until it takes connections.
    package func start() throws {
        let words = ["-D", "\(folder)/data", "-l", "\(folder)/log", "-t", "60", "-w", "start"]
        // The processes of one that was killed hold its memory until they have seen it.
        for _ in 0..<100 {
            if (try? call("pg_ctl", words)) != nil { return }
            _ = poll(nil, 0, 50)
        }
        try call("pg_ctl", words)
    }

    /// The words for how it is stopped.
    package enum Stop: String, Sendable {
        /// Ends sessions, and writes a checkpoint.
        case fast
        /// As a crash would.
        case immediate
    }

    package func stop(_ stop: Stop) throws {
        try call("pg_ctl", ["-D", "\(folder)/data", "-m", stop.rawValue, "-t", "60", "-w", "stop"])
    }

    /// Kills the first process; the others end when they see it, and it can be started again.
    package func killPostmaster() throws {
        let text = try ChildProgram.run(["head", "-n", "1", "\(folder)/data/postmaster.pid"], in: folder)
        guard let process = pid_t(text.prefix { $0 != "\n" }) else { throw ProgramError("no postmaster") }
        _ = Glibc.kill(process, SIGKILL)
    }

    /// Kills a server process as a crash would; the server ends all others and recovers.
    package func kill(_ process: Int32) { _ = Glibc.kill(process, SIGKILL) }

    /// Stops a process in its tracks, or lets it go on.
    package func pause(_ process: Int32, _ isPaused: Bool) {
        _ = Glibc.kill(process, isPaused ? SIGSTOP : SIGCONT)
    }
}
