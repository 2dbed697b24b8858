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
        let counters = counters
        let load = load
        json.member(
            "state",
            isPaused ? RouteState.paused : counters.condition(pending: load.pending).rawValue
        )
        json.member("in_flight", load.inFlight)
        json.member("pending", load.pending)
        json.member("requests", counters.requests)
        json.member("succeeded", counters.succeeded)
        json.member("failed", counters.failed)
        json.member("cancelled", counters.cancelled)
        json.member("recovered", counters.recovered)
        json.member("fallbacks", counters.fallbacks)
        json.member("never_fails_breaches", counters.breaches)
        json.member("consecutive_failures", counters.consecutiveFailures)
        guard let failure = counters.lastFailure else {
            json.member("last_failure", JSONValue.null)
            return
        }
        json.object("last_failure") { writer in
            writer.member("kind", failure.kind.rawValue)
            if let status = failure.status { writer.member("status", status.rawValue) }
            writer.member("detail", failure.detail)
            writer.member("at", UTCTime.format(seconds: failure.wallSeconds))
        }
    }
}
