package import RelayJobs

extension WaitReason {
    /// The sentence of the reason, its causes, and what to do about it.
    package var meaning: String {
        switch self {
        case .backoff:
            """
            The last attempt failed, and a rule named the date of the next.
            Do: Wait; to try at once: waystation jobs retry JOB; to stop the route: waystation pause ROUTE
            """
        case .breakerOpen:
            """
            The circuit breaker stops requests that fail at the upstream; the job has lost no attempt.
            Causes: Of the attempts that ended in the last 2 s, or of the last 20, 95 in a hundred failed, or what \
            circuit_breaker says.
            Do: Mend the upstream; one job at a time tries it again, and the others follow; to see more: waystation limits \
            ROUTE; to send at once: waystation breaker ROUTE closed
            """
        case .rateLimited:
            """
            The route's rate is used up for the moment.
            Causes: More to send than rate_limit allows.
            Do: Wait; raise rate_limit when the upstream can bear it; to see more: waystation limits ROUTE
            """
        case .concurrency:
            """
            The route's permits are taken: concurrency.max_requests are with the upstream.
            Causes: The upstream is slow, or a backlog drains; answers stream; the upstream's window is narrow \
            (adaptive_concurrency); memory is short, when kept jobs have a quarter of the permits (limits.shedding).
            Do: Wait; raise concurrency.max_requests when the upstream can bear it; to see more: waystation limits ROUTE
            """
        case .routePaused:
            """
            The route is paused by an operator or by a rule, and the job goes on with it.
            Causes: Maintenance; a rule with pause_route, such as one on the 410 of a receiver of webhooks.
            Do: When the cause is gone: waystation resume ROUTE; to give up: waystation jobs cancel JOB
            """
        case .ordering:
            """
            An earlier job of the same user with the same ordering key is not over.
            Causes: That job waits or is retried.
            Do: Deliver, cancel or drop that one; to find it: waystation jobs --route ROUTE --limit all; to give up: \
            waystation jobs cancel JOB
            """
        case .notBefore:
            """
            The date that the caller named has not come.
            Do: Wait; to send at once: waystation jobs retry JOB; to give up: waystation jobs cancel JOB
            """
        case .operatorHold:
            """
            An operator or a rule with hold put the job aside.
            Do: When it may go on: waystation jobs release JOB; to give up: waystation jobs cancel JOB
            """
        case .credentials:
            """
            The route's credential could not be obtained; the job has lost no attempt.
            Causes: The token endpoint is down or refuses; the secret was replaced.
            Do: Mend the credential; one job at a time tries it again, and the others follow; to see more: waystation \
            status; to try at once: waystation jobs release JOB
            """
        case .throttled:
            """
            The job is held back to spare the upstream.
            Causes: The upstream asked for patience (Retry-After, RateLimit); the route's retries are as much of its \
            load as retry_budget allows; a replay at a rate; a relay that is short of something for a moment.
            Do: Wait; to see more: waystation limits ROUTE
            """
        case .networkConstrained:
            """
            The network counts as constrained, and the job or its route waits until it does not; it has lost no attempt.
            Causes: A file of constrained.when, or an operator's word; constrained of the route, or \
            Waystation-Constrained of the job, says wait.
            Do: Wait; to see why: waystation constrained; to send it all the same: waystation constrained off; to give \
            up: waystation jobs cancel JOB
            """
        case .routeRemoved:
            """
            No configuration has the route of the job: neither the daemon's nor, in a fleet, that of any that runs.
            Causes: A route that was renamed or removed while jobs waited; the daemon of a fleet that has it is stopped.
            Do: Put the route back, then: waystation reload; to give up: waystation jobs cancel JOB
            """
        case .routeClosed:
            """
            The route is closed at this time, as planned, and the job goes on when it opens; it has lost no attempt.
            Causes: A window of the route's closed.
            Do: Wait; to send at once, take the window from the configuration, then: waystation reload; to give up: \
            waystation jobs cancel JOB
            """
        case .following:
            """
            The upstream has begun an operation for the job, as its answer says, and it is not over.
            Causes: An upstream that answers 202 and goes on; looks at the operation that fail for a while.
            Do: Wait; to try at once: waystation jobs retry JOB; to stop the route: waystation pause ROUTE
            """
        }
    }
}

extension Word {
    /// Reasons that stand only in `blocker`, since no job is kept with them.
    static let blockers: KeyValuePairs<String, String> = [
        "due": """
        Nothing keeps the job: it is next.
        Do: Wait a moment; to stop the route: waystation pause ROUTE
        """
    ]
}
