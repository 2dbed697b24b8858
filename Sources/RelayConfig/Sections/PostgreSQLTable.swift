package import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var postgresql: Section<FleetSettings> {
        Section(
            "postgresql",
            "A PostgreSQL database in which several daemons keep their jobs, from version 14 on.",
            of: FleetSettings(),
            choices: [.exactlyOne("url", "host")]
        ) {
            Field("url", .databaseURL, \.url) {
                "Where the database is, without the password: postgresql://USER@HOST:PORT/DATABASE. Several hosts stand "
                    + "between commas, and the first that takes writes is used. All parameters of the connection are the "
                    + "relay's; host=DIRECTORY names a socket's directory."
            }
            Field("host", .databaseHosts, \.host) {
                "In the place of a URL: a name, an address, or the directory of a socket; several between commas."
            }
            Field("port", .port, \.namedPort) { "The port of each host; 5432 without the key." }
            Field("database", .databaseName("database"), \.namedDatabase) {
                "The database; waystation without the key."
            }
            Field("user", .databaseName("user"), \.namedUser) {
                "The role that the relay has there, which needs no right to make or change tables; waystation "
                    + "without the key."
            }
            Field("password", .secret, \.password) {
                "Its password. A password that is replaced is used from the next connection on, after a reload."
            }
            Field("schema", .schemaName, \.schema) {
                "The schema that waystation store migrate has made. A database may hold several fleets, each in its own."
            }
            Field("node", .nodeName, \.node) {
                "The name of this daemon, which no other of the fleet may have; the host's name without the key."
            }
            Field("lease", .duration(.seconds(5) ... .seconds(600)), \.lease) {
                "How long a daemon that is not heard of keeps its jobs before others take them over. It renews it each "
                    + "third of that, and sends nothing once it could not. The same for every daemon of a fleet."
            }
            Field("connections", .integer(2...64), \.connections) {
                "Connections of this daemon to the database, beside the two that listen and notify."
            }
            Field("pooled", .boolean, \.isPooled) {
                "Whether a pooler in transaction mode stands between. The relay then keeps nothing in a session, and "
                    + "looks for new work instead of being told."
            }
            Field("listen_url", .databaseURL, \.listenURL) {
                "With pooled: a way past the pooler, on which the relay is told of new work. The role and the password "
                    + "are the same."
            }
            Field("tls", databaseTLS.kind, \.tls) {
                "How TLS connections are made. Without the key a socket and the loopback have none, and every other way "
                    + "has TLS by the system's authorities."
            }
            Field("accept_risk", .list(.word(), maximum: 5), \.acceptedRisks) {
                "Weaknesses without which the relay would not start, each accepted by its own word alone: fsync_off, "
                    + "full_page_writes_off and synchronous_commit_off of the server, after which 202 does not mean "
                    + "that a job survives; unencrypted and unverified of the way to it."
            }
        } check: { settings, node, reading in
            checkAddress(node, &reading)
            checkListening(settings, node, &reading)
            checkRisks(settings, node, &reading)
        }
    }

    private static var databaseTLS: Section<FleetSettings.TLS> {
        Section("database_tls", "How TLS connections to the database are made.", of: FleetSettings.TLS()) {
            Field("ca_file", .absolutePath, \.authorityFile) {
                "PEM file with the only authorities to trust; without it the system's are trusted."
            }
            Field("certificate", .secret, \.certificate) {
                "A client certificate and its chain, PEM, in a file or a credential."
            }
            Field("key", .secret, \.key) { "Its private key, PEM, in a file or a credential." }
            Field("verify", .boolean, \.verifies) {
                "Whether the server's certificate and its name are verified; false needs the accepted risk unverified."
            }
        } check: { tls, node, reading in
            let (has, lacks) = node["key"] == nil ? ("certificate", "key") : ("key", "certificate")
            if (node["key"] == nil) != (node["certificate"] == nil) {
                reading.error("\"\(has)\" means nothing without \"\(lacks)\"", at: node.location(has))
            }
            for (key, reference) in [("certificate", tls.certificate), ("key", tls.key)] {
                guard case .environment? = reference else { continue }
                reading.error(
                    "the database's library reads it from a file only",
                    at: node.location(key),
                    hint: "write {\"credential\": …} or {\"file\": …}"
                )
            }
        }
    }

    /// A URL says where the database is, and the keys in its place say nothing beside it.
    private static func checkAddress(_ node: JSONNode, _ reading: inout ReadContext) {
        guard node["url"] != nil else { return }
        for key in ["port", "database", "user"] where node[key] != nil {
            reading.error(
                "\"\(key)\" means nothing beside \"url\"",
                at: node.location(key),
                hint: "write it into the URL"
            )
        }
    }

    private static func checkListening(
        _ settings: FleetSettings,
        _ node: JSONNode,
        _ reading: inout ReadContext
    ) {
        guard let url = settings.listenURL else { return }
        if !settings.isPooled {
            reading.error(
                "\"listen_url\" means nothing without \"pooled\": true",
                at: node.location("listen_url"),
                hint: "the relay listens on \"url\" itself"
            )
        } else if let database = url.database, database != settings.database {
            reading.error("it names another database", at: node.location("listen_url"))
        }
    }

    private static func checkRisks(
        _ settings: FleetSettings,
        _ node: JSONNode,
        _ reading: inout ReadContext
    ) {
        if settings.tls?.verifies == false, !settings.accepts(.unverified) {
            reading.error(
                "whoever answers in the database's place would get its password and the jobs",
                at: node.location("tls", "verify"),
                hint: "name its authority in \"ca_file\", or write \"accept_risk\": [\"unverified\"]"
            )
        }
        if node["tls"] != nil, settings.accepts(.unencrypted) {
            reading.error(
                "\"tls\" and the accepted risk \"unencrypted\" contradict each other",
                at: node.location("accept_risk"),
                hint: "remove one of them"
            )
        }
        for (index, risk) in settings.acceptedRisks.enumerated() {
            reading.warn(risk.warning, at: node.location("accept_risk", "\(index)"))
        }
    }
}

extension FleetSettings.Risk {
    fileprivate var warning: String {
        switch self {
        case .fsyncOff, .fullPageWritesOff:
            "202 then does not mean that a job survives a crash of the database's machine"
        case .synchronousCommitOff:
            "202 then does not mean that a job survives a crash or a failover of the database"
        case .unencrypted: "jobs, their bodies and what the password proves cross the network unencrypted"
        case .unverified: "whoever answers in the database's place gets the password and the jobs"
        }
    }
}

extension ValueKind where Value == DatabaseURL {
    /// Where a database is; a password in it is refused and never repeated.
    fileprivate static var databaseURL: ValueKind {
        let what = "a URL such as \"postgresql://waystation@db.example/waystation\""
        let kind = ValueKind.text(what, pattern: "^postgres(ql)?://") { text throws(Refusal) in
            try DatabaseURL(
                parsing: text,
                passwordPlace: "write \"password\": {\"credential\": \"NAME\"} beside it"
            )
        }
        return ValueKind(kind.shape) { node, current, reading in
            // A password may stand before the host or in a parameter, though neither is allowed.
            if node.text != nil { reading.mask(node) }
            return kind.read(node, current, &reading)
        }
    }
}

extension ValueKind where Value == [DatabaseURL.Host] {
    fileprivate static var databaseHosts: ValueKind {
        .text("a host such as \"db.example\" or \"/run/postgresql\"", pattern: "^[^@%]+$") {
            text throws(Refusal) in
            guard !text.contains("@"), !text.contains("%"), text.contains("[") || !text.contains(":") else {
                throw Refusal(
                    "the host alone stands here",
                    hint: "\"port\", \"user\" and \"database\" have their own keys"
                )
            }
            return try DatabaseURL.hosts(Substring(text))
        }
    }
}

extension ValueKind where Value == UInt16 {
    fileprivate static var port: ValueKind {
        ValueKind<Int>.integer(1...65_535).map({ UInt16($0) }, back: { Int($0) })
    }
}

extension ValueKind where Value == String {
    fileprivate static func databaseName(_ what: String) -> ValueKind {
        .text("the name of a \(what)") { text throws(Refusal) in try DatabaseURL.checkName(text, what) }
            .writing { .string($0) }
    }

    fileprivate static var schemaName: ValueKind {
        .text("the name of a schema", pattern: FleetSettings.schemaPattern) { text throws(Refusal) in
            try FleetSettings.checkSchema(text)
        }.writing { .string($0) }
    }

    fileprivate static var nodeName: ValueKind {
        .text("a name of letters, digits, \".\", \"_\" and \"-\"", pattern: "^[A-Za-z0-9._-]{1,64}$") {
            text throws(Refusal) in
            let others: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")]
            let isName = text.utf8.allSatisfy { byte in
                byte.isDigit || (byte | 0x20).isSmallLetter || others.contains(byte)
            }
            guard isName, (1...64).contains(text.utf8.count) else {
                throw Refusal("a name has 1 to 64 letters, digits, \".\", \"_\" and \"-\"")
            }
            return text
        }.writing { .string($0) }
    }
}

extension FleetSettings {
    static let schemaPattern = "^[a-z_][a-z0-9_]{0,62}$"

    /// - Throws: when it is no name that stands in statements unquoted.
    package static func checkSchema(_ name: String) throws(Refusal) -> String {
        let isName = name.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        guard isName, let first = name.utf8.first, !first.isDigit, name.utf8.count <= 63 else {
            throw Refusal(
                "a schema has only lower-case letters, digits and \"_\", and does not begin with a digit"
            )
        }
        guard !name.hasPrefix("pg_") else {
            throw Refusal("names that begin with pg_ are the database's own")
        }
        return name
    }
}
