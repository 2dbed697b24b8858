import RelayCore
package import RelayEngine
package import RelayJSON

extension RouteState {
    /// The state of a route whose pause is in force, whatever else is to be said.
    static let paused = "paused"
    /// The state of a route of which only its jobs are left.
    static let unconfigured = "unconfigured"

    /// Writes how the route is doing: its word, who is under way, what came of the others, and the last failure.
    package func write(isPaused: Bool, into json: inout JSONObjectWriter) {
        let figures = figures
        let health = figures.health
        let underWay = underWay
        json.member(
            "state",
            isPaused ? RouteState.paused : health.condition(pending: underWay.pending).rawValue
        )
        json.member("in_flight", underWay.sent)
        json.member("pending", underWay.pending)
        json.member("requests", figures.requests)
        json.member("succeeded", figures.succeeded)
        json.member("failed", figures.failed)
        json.member("cancelled", figures.cancelled)
        json.member("recovered", figures.recovered)
        json.member("fallbacks", figures.fallbacks)
        json.member("never_fails_breaches", figures.breaches)
        json.member("consecutive_failures", health.consecutiveFailures)
        guard let failure = health.lastFailure else {
            json.member("last_failure", JSONValue.null)
            return
        }
        json.object("last_failure") { failure.write(into: &$0) }
    }
}

extension LastFailure {
    func write(into json: inout JSONObjectWriter) {
        json.member("kind", kind.rawValue)
        if let status { json.member("status", status.rawValue) }
        json.member("detail", detail)
        json.member("at", UTCTime.format(seconds: wallSeconds))
    }
}
