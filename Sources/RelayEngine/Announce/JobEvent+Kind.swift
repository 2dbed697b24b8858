package import RelayBase
package import RelayCore
package import RelayJobs
import RelayRoute

extension JobEvent {
    /// Nil of what the feed does not tell.
    package var kind: EventKind? {
        switch self {
        case .accepted: .jobAccepted
        case .attemptBegan: .attemptStarted
        case .attemptFailed: .attemptFailed
        case .lookedUp: .jobLookedUp
        case .changed(let report): report.state == .held ? .jobHeld : nil
        case .ended(let report): JobEvent.kind(ofEnd: report)
        case .requestRefused: .requestRefused
        case .routePaused: .routePaused
        case .routeResumed: .routeResumed
        case .routeShut(_, let until): until == nil ? .routeOpened : .routeClosed
        case .breakerChanged: .routeBreaker
        case .credentialRefreshed: .credentialsRefreshed
        case .credentialFailed: .credentialsFailed
        case .runChanged(let run): run.state == .running ? .runStarted : .runEnded
        case .notice(let kind, _, _): kind
        case .elsewhere(let event): event.kind
        case .pinsMissed, .dropped, .jobsChanged, .bodyFoundNoSpace, .pauseWanted: nil
        }
    }

    /// Of requests that were answered when they were done only what is worth a look.
    private static func kind(ofEnd report: JobReport) -> EventKind? {
        guard report.isDurable else { return report.isRecovered ? .jobRecovered : nil }
        return switch report.state {
        case .succeeded: .jobSucceeded
        case .dead: .jobDead
        case .cancelled: .jobCancelled
        case .expired: .jobExpired
        case .scheduled, .queued, .running, .retrying, .held: nil
        }
    }
}

// The job that an event is about, its user and its route: callers see only their own.
extension JobEvent {
    /// The account of the job; nil where it is about none, or about one under way.
    package var report: JobReport? {
        switch self {
        case .accepted(let report), .changed(let report), .ended(let report), .dropped(let report): report
        default: nil
        }
    }

    /// The job under way.
    private var context: JobContext? {
        switch self {
        case .attemptBegan(let context, _), .attemptFailed(let context, _), .lookedUp(let context, _),
            .pinsMissed(let context, _):
            context
        default: nil
        }
    }

    package var job: JobID? { report?.id ?? context?.id ?? elsewhere?.job }

    /// The event of another daemon of the fleet.
    package var elsewhere: SharedEvent? { if case .elsewhere(let event) = self { event } else { nil } }

    /// The user who handed the job over, or asked for what was refused.
    package var user: UInt32? {
        if case .requestRefused(let refused) = self { return refused.client?.user }
        return report?.user ?? context?.client?.user ?? elsewhere?.user
    }

    /// The daemon of a fleet on whose machine that is the user.
    package var node: NodeName {
        if case .requestRefused(let refused) = self { return refused.client?.node ?? .none }
        return report?.node ?? context?.client?.node ?? elsewhere?.node ?? .none
    }

    package var route: String? {
        switch self {
        case .bodyFoundNoSpace(let route), .pauseWanted(let route, _, _), .routePaused(let route, _),
            .routeResumed(let route, _), .routeShut(let route, _), .breakerChanged(let route, _):
            route
        case .notice(_, _, let act): act?.route
        case .runChanged(let run): run.filter.route
        case .requestRefused(let refused): refused.route
        case .elsewhere(let event): event.route
        default: report?.route ?? context?.route.name
        }
    }
}
