/// How a route is doing, in one word; what several of them fit goes by the first.
package enum RouteCondition: String, CaseIterable, Sendable {
    /// Half of the requests of the last minute failed, or of the latest twenty; until less than three of ten do.
    case failing
    /// One of twenty of them failed or was answered by a stand-in, until less than one of fifty is; or the circuit breaker
    /// of one of several upstreams is open.
    case degraded
    /// Requests wait for a permit.
    case busy
    case ok
}
