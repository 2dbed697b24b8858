import RelayInterface
import RelayJobs

/// The sums of the turns of one bulk call.
struct BulkProgress {
    private(set) var matched = 0
    private(set) var changed = 0
    private(set) var asked = 0
    private(set) var expunged = 0
    private(set) var spared = 0
    private(set) var superseded = 0
    private(set) var next: JobCursor?

    init(next: JobCursor?) { self.next = next }

    mutating func add(_ report: ActionReport) {
        matched += report.matched
        changed += report.changed + report.wouldChange
        asked += report.asked.count
        expunged += report.expunged
        spared += report.spared
        superseded += report.superseded
        next = report.next
    }
}

/// The answer to a bulk call.
struct BulkResult: Document {
    let wanted: BulkAction
    let done: BulkProgress
    let next: String?

    static let members: [Member<BulkResult>] = [
        .required("action") { $0.wanted.action }, .required("dry_run") { $0.wanted.isDryRun },
        .required("matched") { $0.done.matched },
        .required("changed", .count, "Jobs that were changed, or that a dry run would change.") {
            $0.done.changed
        },
        .required("asked", .count, "Running jobs that were asked to end.") { $0.done.asked },
        .required("body_expired", .count, "Jobs that cannot be sent again.") { $0.done.expunged },
        .required(
            "left_alone",
            .count,
            "Jobs that may have been carried out, which a retry did not touch."
        ) { $0.done.spared },
        .required("superseded", .count, "Jobs whose place a newer one took, which a retry did not touch.") {
            $0.done.superseded
        },
        .required("next", .orNull(.text), "Until it is null there is more to do.") { $0.next },
    ]
}
