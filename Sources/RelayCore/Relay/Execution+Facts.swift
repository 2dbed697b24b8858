extension RelayPorts {
    func isConstrained(for route: Route) -> Bool { route.constrainedUpstream != nil && isConstrained() }

    /// Where the first attempt of a request, or of a durable job's run, would go now.
    package func firstUpstream(of route: Route) -> Upstream {
        route.policy.upstreams[route.firstPlace(isConstrained: isConstrained(for: route))]
    }
}

extension Route {
    /// The place of the upstream that requests begin with: while the network is constrained the lighter one, where
    /// there is one.
    func firstPlace(isConstrained: Bool) -> Int { isConstrained ? constrainedUpstream ?? 0 : 0 }
}

extension Failure {
    /// Whether the failure is the upstream's, so that another request to it would likely fare no better.
    var saysUpstreamFailed: Bool {
        if let status { return status.class == .serverError }
        return FailureGroup.allCases.contains { $0.contains(kind) }
    }
}

extension JobContext {
    /// Whether `failure` breaks the promise of a route that never fails: the caller's going away and its `fallback: off` do not.
    package func isBreached(by failure: Failure) -> Bool {
        route.policy.neverFails && options.allowsFallback && failure.kind != .cancelled
            && failure.kind != .clientGone
    }
}

extension Route {
    /// Whether the same request gets the same answer from both, so that a kept one may serve the other.
    package func answersLike(_ other: Route) -> Bool {
        policy.upstreams == other.policy.upstreams && policy.response == other.policy.response
            && policy.authentication == other.policy.authentication
            && policy.request.query == other.policy.request.query
    }
}
