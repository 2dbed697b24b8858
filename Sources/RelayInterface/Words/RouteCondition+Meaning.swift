package import RelayRoute

extension RouteCondition {
    /// How a route is doing that takes requests.
    package var meaning: String {
        switch self {
        case .ok:
            """
            Nearly all of the latest requests succeeded, or none has ended.
            Do: No action is needed; DEAD of waystation status counts jobs given up earlier.
            """
        case .busy:
            """
            Requests wait for a permit: concurrency.max_requests are with the upstream.
            Causes: The upstream is slow, or its callers come all at once.
            Do: Wait; raise concurrency when the upstream can bear it.
            """
        case .degraded:
            """
            At least one in twenty of the latest requests failed or had a stand-in, or the circuit breaker \
            of one of several upstreams is open.
            Causes: An upstream fails now and then, or a rule with respond or failover helps its callers meanwhile.
            Do: See LAST FAILURE of waystation status; mend the upstream.
            """
        case .failing:
            """
            At least half of the latest requests failed; an attempt that puts a kept job off counts as one.
            Causes: The upstream fails, or refuses the requests; the percentage of the status counts since the start \
            of the daemon, and may still be high.
            Do: See the last failure with waystation routes ROUTE; mend the upstream, or the request.
            """
        }
    }
}

extension Word {
    /// The states of a route that takes no requests.
    static let routeStates: KeyValuePairs<String, String> = [
        "paused": """
        The route sends nothing new: its kept jobs wait, and other requests are answered 503; those that waited \
        already go on.
        Causes: An operator paused it, or a rule with pause_route.
        Do: When the cause is gone: waystation resume ROUTE
        """,
        "route_closed": """
        The route is in a window of its closed: kept jobs wait until closed_until, and other requests have a stand-in \
        or 503 route_closed.
        Do: Wait; to open it at once, take the window from the configuration, then: waystation reload
        """,
        "unconfigured": """
        The configuration has no such route; only its jobs are left.
        Causes: A route that was renamed or removed while it had jobs.
        Do: Put the route back and reload; or cancel its jobs, and drop those that are over.
        """,
    ]
}
