package import RelayEngine
package import RelayInterface
import RelayJSON
import RelayRoute

/// The version of the daemon, and what its listener is for.
struct VersionDocument: Document {
    let version: String
    let role: Role

    static let members: [Member<VersionDocument>] = [
        .required("name", .constant(.string("waystationd"))) { _ in "waystationd" },
        .required("version") { $0.version },
        .required("api_versions") { _ in ["v1"] },
        .required("role", Role.schema, "That of the listener.") { $0.role },
    ]
}

/// The changes of a reload.
package enum ReloadReport {
    package typealias Changes = (
        isChanged: Bool, digest: String, added: [String], removed: [String], modified: [String],
        needsRestart: [String]
    )

    package static let members: [Member<Changes>] = [
        .required("result", .constant(.string("reloaded"))) { _ in "reloaded" },
        .required("changed") { $0.isChanged }, .required("digest") { $0.digest },
        .required("added") { $0.added }, .required("removed") { $0.removed },
        .required("modified") { $0.modified },
        .required("needs_restart", .list(.text), "What counts only after a restart.") { $0.needsRestart },
    ]
}

/// Whether the network counts as constrained, and what says so.
package enum ConstrainedReport {
    package typealias Source = (file: String?, isControl: Bool, isMet: Bool, error: String?)
    package typealias Verdict = (
        isConstrained: Bool, order: ConstrainedOrder, reason: String, sources: [Source]
    )

    package static let members: [Member<Verdict>] = [
        .required("constrained") { $0.isConstrained },
        .required("state", ConstrainedOrder.schema, "The operator's word.") { $0.order },
        .required("reason") { $0.reason },
        .list("sources", of: source) { $0.sources },
    ]

    private static let source: [Member<Source>] = [
        .optional("file_exists") { $0.file }, .optional("control", .yes) { $0.isControl ? true : nil },
        .required("met") { $0.isMet },
        .optional("error", .text, "Why the file cannot be looked at.") { $0.error },
    ]
}

extension ConstrainedOrder: WordValue {}
