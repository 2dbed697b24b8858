import RelayJobs

/// A key within a route, as a table and a lock know it.
struct FleetScope: Hashable, Sendable {
    enum Kind: UInt8, Sendable { case idempotency, ordering, supersede }

    let bytes: [UInt8]

    init(_ kind: Kind, _ route: String, _ key: String) {
        bytes = [kind.rawValue] + Array(route.utf8) + [0] + Array(key.utf8)
    }

    var kind: Kind? { bytes.first.flatMap(Kind.init) }

    /// The keys by which a job depends on others.
    static func all(of record: JobRecord) -> [FleetScope] {
        [
            record.orderingScope.map { FleetScope(.ordering, record.route, $0) },
            record.supersedeScope.map { FleetScope(.supersede, record.route, $0) },
        ].compactMap { $0 }
    }
}
