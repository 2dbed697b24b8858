import RelayBase
import RelayJobs

/// A key within a route, as a table and a lock know it.
struct FleetScope: Hashable, Sendable {
    enum Kind: UInt8, Sendable { case idempotency, ordering, supersede }

    let bytes: [UInt8]

    init(_ kind: Kind, _ route: String, _ key: String, of node: NodeName) {
        bytes =
            [kind.rawValue] + Array(route.utf8) + [0] + Array(key.utf8)
            + (node.text.map { [0] + Array($0.utf8) } ?? [])
    }

    var kind: Kind? { bytes.first.flatMap(Kind.init) }

    /// The keys by which a job depends on others: those of a user are those of the user's node.
    static func all(of record: JobRecord) -> [FleetScope] {
        let node = record.submitter?.node ?? .none
        return [
            record.orderingScope.map {
                FleetScope(.ordering, record.route, $0, of: $0 == JobRecord.routeOrder ? .none : node)
            },
            record.supersedeScope.map { FleetScope(.supersede, record.route, $0, of: node) },
        ].compactMap { $0 }
    }
}
