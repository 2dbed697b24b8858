import RelayInterface
import RelayJobs

/// How far one bulk call is.
struct BulkProgress {
    private(set) var count = ActionCount()
    private(set) var next: JobCursor?

    init(next: JobCursor?) { self.next = next }

    mutating func add(_ report: ActionReport) {
        count.add(report)
        next = report.next
    }
}

/// The answer to a bulk call.
struct BulkResult: Document {
    let wanted: BulkAction
    let done: BulkProgress
    let next: String?

    static let members: [Member<BulkResult>] =
        [
            .required("action") { $0.wanted.action }, .required("dry_run") { $0.wanted.isDryRun },
            .required("matched") { $0.done.count.matched },
            .required("changed", .count, "Jobs that were changed, or that a dry run would change.") {
                $0.done.count.changed
            },
        ] + ActionCount.members { $0.done.count } + [
            .required("next", .orNull(.text), "Until it is null there is more to do.") { $0.next }
        ]
}

extension ActionCount {
    /// The members for the jobs that an action could not simply change.
    static func members<Root>(_ count: @escaping @Sendable (Root) -> ActionCount) -> [Member<Root>] {
        [
            .required("asked", .count, "Running jobs that were asked to end.") { count($0).asked },
            .required("body_expired", .count, "Jobs that cannot be sent again.") { count($0).expunged },
            .required(
                "left_alone",
                .count,
                "Jobs that may have been carried out, which a retry did not touch."
            ) { count($0).spared },
            .required(
                "superseded",
                .count,
                "Jobs whose place a newer one took, which a retry did not touch."
            ) { count($0).superseded },
        ]
    }
}
