import RelayRoute

extension Route {
    /// Upstreams, as indices, where rules lead when the one in use is left alone for that reason.
    func failovers(when reason: AttemptDeferral.Reason) -> [Int] {
        switch reason {
        case .breakerOpen, .forcedOpen, .breakerTrial, .unanswered: failovers.open
        case .throttled, .tooFast, .windowFull: failovers.throttled
        case .rateLimited, .budgetSpent, .networkConstrained, .routeClosed: []
        }
    }
}
