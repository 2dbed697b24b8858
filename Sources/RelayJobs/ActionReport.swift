package import RelayBase

/// The result of one call of an action.
package struct ActionReport: Sendable {
    /// Jobs that matched the filter, as far as was looked.
    package var matched = 0
    /// Each job that it changed, as it is now; as it last was where it was dropped.
    package var changes: [JobChange] = []
    /// Dead jobs without a body, which cannot be replayed.
    package var expunged = 0
    /// Jobs that may have been carried out, which the filter spares.
    package var spared = 0
    /// Jobs whose place a newer one took, which the filter spares.
    package var superseded = 0
    /// Jobs that it would change, where it is only counted.
    package var wouldChange = 0
    /// Where the next call goes on; nil when all have been looked at.
    package var next: JobCursor?

    package var changed: Int { changes.count }

    /// Running jobs that are to be cancelled, which is all that an action can do to one: whoever holds their claim
    /// should end it.
    package var asked: [JobID] { changes.lazy.filter { $0.state == .running }.map(\.id) }

    package init() {}

    /// Counts a job that is left alone.
    package mutating func spare(_ reason: JobFilter.Spare) {
        switch reason {
        case .uncertain: spared += 1
        case .superseded: superseded += 1
        }
    }

    /// Counts what `action` would do to a job that matches.
    package mutating func count(_ job: StoredJob, _ action: JobAction, _ filter: JobFilter) {
        matched += 1
        if let spare = filter.spares(job) { return self.spare(spare) }
        switch action.effect(on: job) {
        case .change: wouldChange += 1
        case .bodyExpired: expunged += 1
        case .nothing: break
        }
    }
}
