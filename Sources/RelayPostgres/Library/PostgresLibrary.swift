import CPostgres
package import RelayPosix

/// libpq, which is mapped only where a configuration asks for it.
package struct PostgresLibrary: Sendable {
    let resolver: NameResolver

    private init(_ resolver: NameResolver) { self.resolver = resolver }

    /// Opens it, once for the process, and takes the variables away that it would take for settings.
    ///
    /// To be called before threads read the environment.
    package static func open(
        _ name: String = "libpq.so.5",
        resolver: NameResolver = NameResolver()
    ) throws(PostgresError) -> PostgresLibrary {
        relay_pq_clear_environment()
        var reason: UnsafePointer<CChar>?
        switch unsafe relay_pq_open(name, &reason) {
        case RELAY_PQ_OPENED: return PostgresLibrary(resolver)
        case RELAY_PQ_TOO_OLD:
            throw PostgresError(
                .missingLibrary,
                "\(name) is too old, since it has no \(unsafe plainText(reason)): install the package libpq5 of"
                    + " PostgreSQL 14 or later"
            )
        default:
            throw PostgresError(
                .missingLibrary,
                "the store on PostgreSQL needs libpq, which cannot be opened (\(unsafe plainText(reason))):"
                    + " install the package libpq5"
            )
        }
    }
}
