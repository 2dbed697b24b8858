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
