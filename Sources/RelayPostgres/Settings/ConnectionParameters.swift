import RelayBase
import RelayPosix

extension PostgresSettings {
    /// A path at which there is nothing, for files that libpq would else look for in the home of the user.
    private static let noFile = "/dev/null/none"

    /// Every parameter of libpq that has a say in where a connection leads or what it does; for a name, that address of it.
    func parameters(_ address: IPAddress?, password: String?) throws(PostgresError) -> [(String, String)] {
        guard !user.isEmpty, !database.isEmpty, !host.isEmpty else {
            throw PostgresError(
                .unreachable,
                "cannot connect to \(endpoint): host, database and user have to be named"
            )
        }
        var parameters = [
            ("host", host), ("port", "\(port)"), ("dbname", database), ("user", user),
            ("application_name", applicationName), ("client_encoding", "UTF8"),
            ("passfile", Self.noFile), ("channel_binding", "prefer"), ("target_session_attrs", "read-write"),
            ("gssencmode", "disable"), ("keepalives", "1"), ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "\(limits.silence.milliseconds)"),
        ]
        if let address { parameters.append(("hostaddr", address.description)) }
        if let password, !password.isEmpty { parameters.append(("password", password)) }
        if !isPooled { parameters.append(("options", options)) }
        return parameters + (try encryption)
    }

    private var encryption: [(String, String)] {
        get throws(PostgresError) {
            if case .directory = PostgresHost(host) { return [("sslmode", "disable")] }
            let mode = tls.mode == .automatic ? (PostgresHost(host).isLocal ? .off : .verified) : tls.mode
            let name: String
            switch mode {
            case .automatic, .off: return [("sslmode", "disable")]
            case .unverified: name = "require"
            case .verified: name = "verify-full"
            }
            return [
                ("sslmode", name),
                // libpq verifies wherever there is such a file.
                ("sslrootcert", mode == .verified ? try tls.trustedFile() : Self.noFile),
                ("sslcert", tls.certificate ?? Self.noFile), ("sslkey", tls.key ?? Self.noFile),
                ("sslcrl", Self.noFile), ("sslsni", "1"), ("ssl_min_protocol_version", "TLSv1.2"),
                // A key that needs a passphrase is refused, and nobody is asked for it at a terminal.
                ("sslpassword", "-"),
            ]
        }
    }

    /// Settings of the session, which begin with it.
    private var options: String {
        let settings = [
            ("search_path", quotedSchema),
            // Statements are prepared to be run often; a plan for each run would cost more than it saves.
            ("plan_cache_mode", "force_generic_plan"),
            // A plan may be made while a table has little in it, and be used until it has much: then only an index will do.
            // Where there is none a scan looks dear, and compiling it would be.
            ("enable_seqscan", "off"), ("jit", "off"),
            ("statement_timeout", "\(limits.statement.milliseconds)"),
            ("lock_timeout", "\(limits.lock.milliseconds)"),
            ("idle_in_transaction_session_timeout", "\(limits.idleInTransaction.milliseconds)"),
            ("client_connection_check_interval", "\(limits.connectionCheck.milliseconds)"),
            ("tcp_user_timeout", "\(limits.silence.milliseconds)"), ("tcp_keepalives_idle", "5"),
            ("tcp_keepalives_interval", "2"), ("tcp_keepalives_count", "3"),
        ]
        return settings.map { name, value in "-c \(name)=\(Self.escaped(value))" }.joined(separator: " ")
    }

    private var quotedSchema: String {
        let quote = UInt8(ascii: "\"")
        var bytes = [quote]
        for byte in schema.utf8 { bytes += byte == quote ? [quote, quote] : [byte] }
        return String(decoding: bytes + [quote], as: UTF8.self)
    }

    /// A space would end the value.
    private static func escaped(_ value: String) -> String {
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            if byte <= UInt8(ascii: " ") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { saturatedNanoseconds / 1_000_000 }
}
