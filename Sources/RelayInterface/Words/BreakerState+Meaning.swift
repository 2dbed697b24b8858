extension Word {
    /// The states of the circuit breaker of an upstream.
    static let breakerStates: KeyValuePairs<String, String> = [
        "closed": """
        The circuit breaker lets attempts through.
        Do: No action is needed.
        """,
        "open": """
        The circuit breaker stops requests, since the upstream fails: they have a stand-in or breaker_open, and kept \
        jobs wait.
        Do: Mend the upstream; the breaker probes it by itself.
        """,
        "probing": """
        The circuit breaker lets one attempt at a time through, to see whether the upstream is well again.
        Do: Wait.
        """,
        "forced_open": """
        An operator keeps the circuit breaker open.
        Do: When it may be left to itself again: waystation breaker ROUTE auto
        """,
        "forced_closed": """
        An operator keeps the circuit breaker closed.
        Do: When it may be left to itself again: waystation breaker ROUTE auto
        """,
        "would_be_open": """
        The circuit breaker would stop requests, and only tells so, since its mode is report: nothing is held back.
        Do: Mend the upstream; to have the breaker act, set its mode to enforce, then: waystation reload
        """,
        "off": """
        The route has no circuit breaker.
        Do: No action is needed; circuit_breaker of the route turns it on.
        """,
    ]

    /// The states of a run, which acts on many jobs.
    static let runStates: KeyValuePairs<String, String> = [
        "running": """
        The run goes on with one job after the other.
        Do: Wait; to end it: waystation runs stop RUN
        """,
        "done": """
        The run has acted on all the jobs that it was for.
        Do: No action is needed.
        """,
        "stopped": """
        Somebody stopped the run, or the daemon ended; what it had changed stays changed.
        Do: Begin another for the jobs that are left.
        """,
        "failed": """
        The run could not go on.
        Causes: A job store that takes no writes.
        Do: See waystation status for the store, and begin another for the jobs that are left.
        """,
    ]

    /// The modes of delivery of a route.
    static let deliveries: KeyValuePairs<String, String> = [
        "sync": """
        Requests of the route are answered by the upstream, and kept only where they ask for it.
        Do: No action is needed; delivery.mode of the route changes it.
        """,
        "durable": """
        Requests of the route are kept on disk before they are answered, and delivered from there.
        Do: No action is needed; delivery.mode of the route changes it.
        """,
    ]
}
