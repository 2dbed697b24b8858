package import RelayBase

/// A kept job as a change of the store left it: where it stands now, and what brought it there.
package struct JobChange: Sendable {
    package let id: JobID
    /// The route's name.
    package let route: String
    /// The user who handed it over; nil when that is not known.
    package let user: UInt32?
    /// The daemon of a fleet on whose machine that is the user.
    package let node: NodeName
    package let state: JobState
    /// Why it waits; nil when it does not, or when the state says it all.
    package let reason: WaitReason?
    /// Why it is over without success; nil when the state says it all.
    package let end: EndReason?
    /// Attempts of its whole life.
    package let attemptCount: Int
    package let cause: Cause
    /// Whether it was over, and begins another life.
    package let isRevived: Bool

    package init(
        id: JobID,
        route: String,
        user: UInt32?,
        on node: NodeName = .none,
        state: JobState,
        reason: WaitReason? = nil,
        end: EndReason? = nil,
        attemptCount: Int = 0,
        cause: Cause = .store,
        isRevived: Bool = false
    ) {
        self.id = id
        self.route = route
        self.user = user
        self.node = node
        self.state = state
        self.reason = reason
        self.end = end
        self.attemptCount = attemptCount
        self.cause = cause
        self.isRevived = isRevived
    }

    /// A cause that may change a job.
    package enum Cause: Hashable, Sendable {
        /// An attempt, or what was decided after it.
        case run
        /// The store: its time ran out, a crash cut it off, its record is damaged, a newer job took its place.
        case store
        /// Its acceptance, which nobody was told of any more: it was no job to anybody.
        case unawaited
        /// Somebody acted on it; nil when the kernel has no name for them.
        case action(JobAction, by: UInt32?)
        /// Its route was paused or goes on, or the network is not constrained any more.
        case pause
    }
}
