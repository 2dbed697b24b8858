package import RelayBase
package import RelayJobs
package import RelayRoute

extension JobHistory {
    /// Whether an upstream of the route is asked about what the job has behind it before the request is sent again.
    ///
    /// One that nobody knows cannot be asked.
    func asksFirst(on route: Route, _ method: Method) -> Bool {
        guard let rules = route.lookUp, !method.isSafe else { return false }
        return doubt.map { rules.index(about: $0, among: route.policy.upstreams) != nil } ?? true
    }

    /// Takes an attempt of an earlier run into account, as the route has it now.
    package mutating func count(_ attempt: Attempt, on route: Route, _ method: Method) {
        count(attempt, asksFirst: asksFirst(on: route, method))
    }
}
