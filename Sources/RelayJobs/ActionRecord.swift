package import RelayBase

/// An action that somebody took on a job.
package struct ActionRecord: Hashable, Sendable {
    /// Never `drop`, which takes the record with the job.
    package var action: JobAction
    /// Milliseconds since 1970 UTC.
    package var at: Int64
    /// The user who did it; nil when the kernel has no name for them.
    package var by: Principal?
    /// Whether it was done to every job that matched.
    package var isBulk: Bool
    /// Whether the job ran and was asked to end, rather than ended.
    package var isAsked: Bool

    package init(_ action: JobAction, at: Int64, by: Principal?, isBulk: Bool, isAsked: Bool = false) {
        self.action = action
        self.at = at
        self.by = by
        self.isBulk = isBulk
        self.isAsked = isAsked
    }

    /// The record for a job that is in `state` now; nil when nobody asked for the action, or the job is gone.
    package init?(_ action: JobAction, by origin: ActionOrigin, to state: JobState, at: Int64) {
        guard case .user(let user, let isBulk) = origin, action != .drop else { return nil }
        self.init(action, at: at, by: user, isBulk: isBulk, isAsked: state == .running)
    }
}

extension [ActionRecord] {
    /// Of one job.
    package static let most = 16

    /// Takes up the latest; beyond the limit the oldest go.
    package mutating func keep(_ record: ActionRecord) {
        append(record)
        removeFirst(Swift.max(0, count - Self.most))
    }
}
