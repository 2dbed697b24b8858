package import RelayBase
import RelayJobs
import RelayRoute

// Attempts on a constrained network.
extension ExecutionMachine {
    /// How long until it is looked again whether the network is still constrained.
    private static let look: Duration = .milliseconds(250)

    /// The network is constrained, and the job sends nothing then: it waits or is refused.
    ///
    /// One that waits spends no attempt: a request looks again until its time is over, and a run of a kept job ends.
    mutating func constrained(_ use: ConstrainedUse, _ moment: Moment) {
        guard case .grant = step else { return }
        if use == .refuse { return attemptFailed(Failure.networkConstrained(context, use), moment) }
        if isDelivery { return waitForNetwork(moment) }
        // Its refusal, and no time-out, is the last word.
        let until = min(moment.now.advanced(by: Self.look), recovery.deadline.before(by: .milliseconds(1)))
        guard until > moment.now else {
            return attemptFailed(Failure.networkConstrained(context, use), moment)
        }
        hold = AttemptDeferral(reason: .networkConstrained, until: until)
        step = .hold(AttemptDeferral(reason: .networkConstrained, until: until))
    }

    /// The request of a program in the form that fits the network.
    func lighter(_ request: HTTPRequest) throws(Failure) -> HTTPRequest {
        guard isLight, let light = context.lightRequest else { return request }
        return try light.applied(to: request)
    }

    /// Makes the next attempt in the form that fits the network.
    mutating func lighten(_ isConstrained: Bool) throws(Failure) {
        guard context.constrainedUse == .light, let light = context.lightRequest, isLight != isConstrained
        else { return }
        isLight = isConstrained
        // That of a program is prepared next.
        guard let original else { return }
        preparation = try prepare(isLight ? light.applied(to: original) : original)
    }
}

extension Failure {
    /// Nothing was sent, since the network is constrained and `use` is the present treatment of the job.
    package static func networkConstrained(_ context: JobContext, _ use: ConstrainedUse) -> Failure {
        let isOwn = context.options.constrained == use && context.route.policy.constrained < use
        let setting = isOwn ? "the request's Waystation-Constrained" : "the route's constrained"
        let what = use == .refuse ? "refuses" : "has it wait, for all of its time"
        return Failure(
            .networkConstrained,
            sent: .neverSent,
            "the network is constrained, and \(setting) \(what)"
        )
    }
}
