/// An operator's action on jobs.
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

extension JobAction {
    /// The effect that an action would have.
    package enum Effect: Sendable {
        case change
        /// It is a retry of a job whose body is no longer kept.
        case bodyExpired
        case nothing
    }

    /// The effect that it would have on a job as it is now.
    package func effect(on job: StoredJob) -> Effect {
        let isOver = job.state.isTerminal
        let changes: Bool =
            switch self {
            case .cancel: !isOver && !job.isCancelAsked
            case .hold: !isOver && job.state != .running && job.reason != .operatorHold
            case .release: job.state == .held
            case .drop: job.state != .running
            case .expunge: isOver && (job.hasBody || job.hasAnswer)
            case .retry:
                switch job.state {
                case .succeeded, .running: false
                case .dead, .cancelled, .expired: job.hasBody
                case .scheduled, .retrying, .held: true
                case .queued: job.reason != nil && job.reason != .ordering
                }
            }
        if self == .retry, isOver, job.state != .succeeded, !job.hasBody { return .bodyExpired }
        return changes ? .change : .nothing
    }
}
