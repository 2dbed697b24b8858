/// Settings that a server may be without, though it may lose then what it has committed.
package struct FleetRisks: OptionSet, Sendable {
    package let rawValue: UInt8
    package static let fsyncOff = FleetRisks(rawValue: 1)
    package static let fullPageWritesOff = FleetRisks(rawValue: 2)
    package static let synchronousCommitOff = FleetRisks(rawValue: 4)

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Each risk that is not accepted, by its word in `accept_risk`, and the condition under which there is none of it.
    private var checks: [(word: String, isSafe: String)] {
        let all: [(FleetRisks, String, String)] = [
            (.fsyncOff, "fsync_off", "current_setting('fsync') = 'on'"),
            (.fullPageWritesOff, "full_page_writes_off", "current_setting('full_page_writes') = 'on'"),
            (
                .synchronousCommitOff, "synchronous_commit_off",
                "current_setting('synchronous_commit') IN ('on', 'remote_apply')"
            ),
        ]
        return all.filter { !contains($0.0) }.map { ($0.1, $0.2) }
    }

    /// True where what is committed survives the crash of the server, but for these risks.
    var isSafe: String {
        checks.isEmpty ? "true" : "(\(checks.map(\.isSafe).joined(separator: " AND ")))"
    }

    /// The words for the others that the server runs.
    var found: String {
        let words = checks.map { "CASE WHEN NOT \($0.isSafe) THEN '\($0.word)' END" }
        return "array_to_string(ARRAY[\(words.joined(separator: ", "))]::text[], ', ')"
    }
}
