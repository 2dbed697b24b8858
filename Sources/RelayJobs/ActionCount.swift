/// The sums of the calls of one action.
package struct ActionCount: Hashable, Sendable {
    package var matched = 0
    /// Jobs that were changed, or that a dry run would change.
    package var changed = 0
    /// Running jobs that were asked to end.
    package var asked = 0
    /// Jobs whose bodies are gone.
    package var expunged = 0
    /// Jobs that may have been carried out.
    package var spared = 0
    /// Jobs whose place a newer one took.
    package var superseded = 0

    package init() {}

    package mutating func add(_ report: ActionReport) {
        matched += report.matched
        changed += report.changed + report.wouldChange
        asked += report.asked.count
        expunged += report.expunged
        spared += report.spared
        superseded += report.superseded
    }
}
