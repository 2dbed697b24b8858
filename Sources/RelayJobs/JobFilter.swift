package import RelayBase

/// Selects jobs: every criterion that is given must match.
package struct JobFilter: Hashable, Sendable {
    /// Only these jobs, unless empty.
    package var ids: [JobID] = []
    package var route: String?
    /// Any of them; all when empty.
    package var states: Set<JobState> = []
    package var reason: WaitReason?
    /// Why it is over.
    package var end: EndReason?
    /// The routes that are paused, or closed, as the reason is: their queued jobs, which store no reason, match the reasons
    /// `route_paused` and `route_closed` too.
    ///
    /// Empty where only jobs are meant that a pause holds.
    package var pausedRoutes: Set<String> = []
    package var failureKind: FailureKind?
    /// Of the answer of the last failed attempt.
    package var failureStatus: Status?
    /// The upstream of the last failed attempt.
    package var upstream: String?
    package var label: String?
    /// The uid that handed the jobs over.
    package var user: UInt32?
    /// The daemon of a fleet on whose machine that is the user.
    package var node = NodeName.none
    /// The daemon of a fleet that accepted the job for a user of its machine, or has it under way: the store of a fleet alone
    /// knows it.
    package var holder: String?
    /// Milliseconds since 1970 UTC, this one included: `created_after` of the API.
    package var createdFrom: Int64?
    /// Milliseconds since 1970 UTC, this one excluded.
    package var createdBefore: Int64?
    /// Jobs that are at this version.
    package var version: UInt64?
    /// Whether a retry excludes the jobs in doubt that are not sent by themselves; they match all the same.
    package var sparesUncertain = false
    /// Whether a retry excludes the jobs that a newer one superseded: each would undo the effect of that one.
    package var sparesSuperseded = false

    package init() {}

    package init(ids: [JobID]) { self.ids = ids }

    /// Why a retry excludes a job.
    package enum Spare: Sendable {
        /// It may have been carried out.
        case uncertain
        /// A newer one took its place.
        case superseded
    }

    /// Why a retry excludes the job; nil where it does not.
    package func spares(_ job: StoredJob) -> Spare? {
        if sparesSuperseded, job.end == .superseded { return .superseded }
        // A queued job in doubt is sent by itself.
        let isSpared = sparesUncertain && job.isInDoubt && (job.state.isTerminal || job.state == .held)
        return isSpared ? .uncertain : nil
    }

    package func matches(_ job: StoredJob) -> Bool {
        (ids.isEmpty || ids.contains(job.record.id)) && (route == nil || job.record.route == route)
            && (states.isEmpty || states.contains(job.state))
            && (reason == nil || job.reason == reason
                || job.reason == nil && isPaused(job.state, job.record.route))
            && (end == nil || job.end == end)
            && (failureKind == nil || job.failureKind == failureKind)
            && (failureStatus == nil || job.failureStatus == failureStatus)
            && (upstream == nil || job.failureUpstream == upstream)
            && (label.map { job.record.labels.contains($0) } ?? true)
            && (user == nil || job.record.submitter?.user == user)
            && (node == .none || job.record.submitter.map { $0.node.shares(users: node) } ?? false)
            && (createdFrom.map { job.createdAt >= $0 } ?? true)
            && (createdBefore.map { job.createdAt < $0 } ?? true)
            && (version == nil || job.version == version)
    }
}

extension JobFilter {
    /// Whether a job without a stored reason waits for a route that sends nothing, and the filter asks for that.
    package func isPaused(_ state: JobState, _ route: String) -> Bool {
        (reason == .routePaused || reason == .routeClosed) && (state == .queued || state == .retrying)
            && pausedRoutes.contains(route)
    }
}
