package import RelayBase

/// The origin of an action on jobs.
package enum ActionOrigin: Hashable, Sendable {
    /// Somebody, nil when the kernel has no name for them, to this job or to every one that matches.
    case user(Principal?, isBulk: Bool)
    /// The end of their route's pause, or of a constrained network.
    case pause
}

extension JobChange.Cause {
    package init(_ action: JobAction, by origin: ActionOrigin) {
        switch origin {
        case .user(let user, _): self = .action(action, by: user?.user)
        case .pause: self = .pause
        }
    }
}
