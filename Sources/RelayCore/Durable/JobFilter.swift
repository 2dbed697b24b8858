/// Which jobs are meant; every part that is given must match.
package struct JobFilter: Hashable, Sendable {
    /// When not empty, no other job is looked at.
    package var ids: [JobID] = []
    package var route: String?
    /// Any of them; all when empty.
    package var states: Set<JobState> = []
    package var reason: WaitReason?
    /// Why it is over.
    package var end: EndReason?
    /// Routes whose queued jobs wait for the end of a pause, though no word of it stands with the jobs.
    package var pausedRoutes: Set<String> = []
    package var failureKind: FailureKind?
    /// Of the answer of the last failed attempt.
    package var failureStatus: Status?
    package var label: String?
    /// The uid that handed the jobs over.
    package var user: UInt32?
    /// Milliseconds since 1970 UTC, this one included.
    package var createdFrom: Int64?
    /// Milliseconds since 1970 UTC, this one excluded.
    package var createdBefore: Int64?
    /// Jobs that are at this version.
    package var version: UInt64?
    /// Whether a retry leaves alone the jobs in doubt that would not be sent by themselves; they match all the same.
    package var sparesUncertain = false

    package init() {}

    package init(ids: [JobID]) { self.ids = ids }

    /// Whether a retry leaves the job alone.
    package func spares(_ job: StoredJob) -> Bool {
        sparesUncertain && job.isInDoubt && (job.state.isTerminal || job.state == .held)
    }

    package func matches(_ job: StoredJob) -> Bool {
        (ids.isEmpty || ids.contains(job.record.id)) && (route == nil || job.record.route == route)
            && (states.isEmpty || states.contains(job.state))
            && (reason == nil || job.reason == reason
                || job.reason == nil && isPaused(job.state, job.record.route))
            && (end == nil || job.end == end)
            && (failureKind == nil || job.failureKind == failureKind)
            && (failureStatus == nil || job.failureStatus == failureStatus)
            && (label.map { job.record.labels.contains($0) } ?? true)
            && (user == nil || job.record.submitter?.user == user)
            && (createdFrom.map { job.createdAt >= $0 } ?? true)
            && (createdBefore.map { job.createdAt < $0 } ?? true)
            && (version == nil || job.version == version)
    }
}

extension JobFilter {
    /// Whether such a job, which has no reason of its own, waits for its route as the filter wants it.
    package func isPaused(_ state: JobState, _ route: String) -> Bool {
        reason == .routePaused && (state == .queued || state == .retrying) && pausedRoutes.contains(route)
    }
}

/// A place in a list, which later writes do not move.
package struct JobCursor: Hashable, Sendable {
    /// The last job that was looked at.
    package var position: Int64

    package init(position: Int64) { self.position = position }

    /// For a URL; means nothing to a client.
    package var text: String { "c" + String(position, radix: 36) }

    package init?(text: String) {
        guard text.hasPrefix("c"), text.utf8.count <= 14,
            text.utf8.dropFirst().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || $0 >= 0x61 && $0 <= 0x7A }),
            let position = Int64(text.dropFirst(), radix: 36)
        else { return nil }
        self.position = position
    }
}

package enum ListOrder: Hashable, Sendable {
    case oldestFirst
    case newestFirst
}

/// A part of a list.
package struct JobPage: Sendable {
    package var jobs: [StoredJob] = []
    /// Where to go on; nil at the end.
    ///
    /// A page may be short, even empty, and still have one.
    package var next: JobCursor?

    package init() {}
}

/// What an operator does to jobs.
package enum JobAction: String, CaseIterable, Sendable {
    /// Makes waiting jobs due now, and gives dead, cancelled and expired ones another life.
    case retry
    /// Ends what waits; what runs is asked to end.
    case cancel
    case hold
    case release
    /// Removes jobs that do not run, with everything about them but their idempotency key.
    case drop
    /// Removes the bodies of jobs that are over.
    case expunge
}

/// How jobs that are made due together are spread: the first after `first`, each next one `interval` later.
package struct JobSpacing: Hashable, Sendable {
    package var first: Duration
    package var interval: Duration

    package init(first: Duration, interval: Duration) {
        self.first = first
        self.interval = interval
    }

    /// Of the job that is the `index`-th to change, counted from 0; saturates.
    package func delay(of index: Int) -> Duration {
        let (product, overflow) = interval.saturatedNanoseconds.multipliedReportingOverflow(by: Int64(index))
        return .nanoseconds(first.saturatedNanoseconds.addingSaturating(overflow ? .max : product))
    }
}

/// What one call of a bulk action did.
package struct ActionReport: Hashable, Sendable {
    /// Jobs that matched the filter, as far as was looked.
    package var matched = 0
    package var changed = 0
    /// Running jobs that are to be cancelled: whoever holds their claim should end it.
    package var asked: [JobID] = []
    /// Waiting jobs that were cancelled.
    package var ended: [EndedJob] = []
    /// Dead jobs without a body, which cannot be replayed.
    package var expunged = 0
    /// Jobs that may have been carried out, which the filter spares.
    package var spared = 0
    /// Where the next call goes on; nil when all have been looked at.
    package var next: JobCursor?

    package init() {}
}
