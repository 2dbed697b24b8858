import RelayBase
import RelayConfig

/// Makes the schema of a fleet, or extends it to the newest version.
protocol FleetMigration: Sendable {
    /// Does it, or looks only; a step that was cut off before is made again.
    func migrate(_ order: FleetMigrationOrder) throws(CommandFailure) -> FleetMigrationReport
}

/// The order that `waystation store migrate` gives.
struct FleetMigrationOrder: Sendable, Equatable {
    /// Names the role that may make and change tables.
    var url: DatabaseURL
    var password: Secret?
    var schema: String
    /// The role of the daemons, which may not.
    var role: String
    /// Whether it is only looked what there is to do.
    var checksOnly: Bool
}

/// The work that was done for it, or is to be done.
struct FleetMigrationReport: Sendable {
    /// The version that was found; nil without a schema.
    var found: Int?
    /// The newest that this program knows.
    var newest: Int
    /// The steps that were made, or are to be made, each a line.
    var steps: [String]
    /// The statements that give the daemons' role what it needs.
    var grants: [String]

    /// Whether there is nothing to do any more, and nothing was.
    var isCurrent: Bool { found == newest && steps.isEmpty }

    func text(of order: FleetMigrationOrder) -> String {
        let schema = "schema \(safe(order.schema))"
        if isCurrent { return "\(schema) is at version \(newest), the newest\n" }
        let before = found.map { "is at version \($0)" } ?? "does not exist"
        var text =
            order.checksOnly
            ? "\(schema) \(before), and the newest is \(newest); to do:\n"
            : "\(schema) \(found.map { "was at version \($0)" } ?? "did not exist"), and is at \(newest) now; done:\n"
        for step in steps { text += "  \(safe(step))\n" }
        if order.checksOnly || grants.isEmpty { return text }
        text += "\nThe role \(safe(order.role)) of the daemons needs these rights:\n\n"
        for grant in grants { text += "\(safe(grant));\n" }
        return text
    }
}
