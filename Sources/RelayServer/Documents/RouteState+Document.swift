package import RelayBase
import RelayCore
package import RelayEngine
package import RelayJSON
import RelayRoute

extension RouteState {
    /// The state of a route whose pause is in force, whatever else is to be said.
    static let paused = "paused"
    /// The state of a route of which only its jobs are left.
    static let unconfigured = "unconfigured"
}

extension Snapshot.Entry {
    /// Writes how the route is doing: its word, who is under way, what came of the others, and the last failure.
    package func write(isPaused: Bool, _ time: any ClockSource, into json: inout JSONObjectWriter) {
        let (figures, health) = (state.figures, state.health(at: time.wallMilliseconds()))
        let underWay = state.underWay
        let condition = health.condition(pending: underWay.pending, isPartlyOpen: isPartlyOpen(time.now()))
        json.member("state", isPaused ? RouteState.paused : condition.rawValue)
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
        json.object("lately") { lately in
            lately.member("requests", health.lately.all)
            lately.member("failed", health.lately.failed)
            lately.member("stand_ins", health.lately.standIns)
        }
        guard let failure = health.lastFailure else {
            json.member("last_failure", JSONValue.null)
            return
        }
        json.object("last_failure") { failure.write(into: &$0) }
    }

    /// Whether the circuit breaker of one of several upstreams is open.
    private func isPartlyOpen(_ now: Instant) -> Bool {
        guard route.policy.upstreams.count > 1 else { return false }
        return memory.traffic.standing(of: route, now).upstreams.contains { upstream in
            switch upstream.breaker {
            case .open, .probing, .forcedOpen: true
            case .closed, .forcedClosed, .off: false
            }
        }
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
