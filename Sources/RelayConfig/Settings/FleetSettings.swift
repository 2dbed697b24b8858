package import RelayBase

/// The database that several daemons keep their jobs in.
package struct FleetSettings: Sendable, Equatable {
    /// A weakness of the database, or of the way to it, that an operator takes on.
    package enum Risk: String, CaseIterable, Sendable {
        case fsyncOff = "fsync_off"
        case fullPageWritesOff = "full_page_writes_off"
        case synchronousCommitOff = "synchronous_commit_off"
        /// No TLS, though the database is neither on a socket nor on the loopback.
        case unencrypted
        /// TLS without a look at the certificate.
        case unverified
    }

    /// How TLS is made; without it the way to another machine has TLS by the system's authorities.
    package struct TLS: Sendable, Equatable {
        /// Nil trusts the system's authorities.
        package var authorityFile: String?
        /// In files or credentials of the unit: libpq opens them itself.
        package var certificate: SecretReference?
        package var key: SecretReference?
        package var verifies = true

        package init() {}
    }

    package static let port: UInt16 = 5432
    package static let name = "waystation"

    /// Nil where the keys beside it say where the database is.
    var url: DatabaseURL?
    var host: [DatabaseURL.Host]?
    var namedPort: UInt16?
    var namedDatabase: String?
    var namedUser: String?
    package var password: SecretReference?
    package var schema = FleetSettings.name
    /// Nil is the host's name.
    package var node: String?
    package var lease: Duration = .seconds(30)
    package var connections = 4
    /// Whether a pooler in transaction mode stands between.
    package var isPooled = false
    /// A direct way to the same database, past the pooler.
    package var listenURL: DatabaseURL?
    package var tls: TLS?
    package var acceptedRisks: [Risk] = []

    package init() {}

    /// Tried in this order.
    package var hosts: [DatabaseURL.Host] {
        if let url { return url.hosts }
        return (host ?? []).map { $0.onPort(namedPort ?? $0.port) }
    }

    package var database: String { url?.database ?? namedDatabase ?? FleetSettings.name }
    package var user: String { url?.user ?? namedUser ?? FleetSettings.name }

    package func accepts(_ risk: Risk) -> Bool { acceptedRisks.contains(risk) }

    /// Whether connections have TLS: not to a socket or the loopback, unless something is said about it.
    package var usesTLS: Bool { tls != nil || !accepts(.unencrypted) && !hosts.allSatisfy(\.isLocal) }
}
