extension Meaning {
    /// The sources of an answer.
    static let sources: [Meaning] = [
        Meaning(
            .source,
            "upstream",
            "The answer is the upstream's.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .source,
            "fallback",
            "A rule with respond gave an answer that is as good as the upstream's.",
            remedy: "See the attempts for why the upstream did not answer."
        ),
        Meaning(
            .source,
            "placeholder",
            "A rule with respond gave an answer that only keeps the caller going.",
            remedy: "See the attempts for why the upstream did not answer."
        ),
        Meaning(
            .source,
            "stale",
            "The answer is the last good one to the same request.",
            remedy: "See the attempts for why the upstream did not answer."
        ),
        Meaning(
            .source,
            "relay",
            "The answer is the relay's own: a problem document with a code.",
            remedy: "Explain its code: waystation explain CODE"
        ),
    ]
}

extension Meaning {
    /// The outcomes of a request.
    static let outcomes: [Meaning] = [
        Meaning(
            .outcome,
            "success",
            "The upstream did what was asked, as the route understands it.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .outcome,
            "failure",
            """
            The upstream did not do what was asked, as the route understands it, and nothing \
            stood in for it.
            """,
            remedy: "See the attempts: waystation explain JOB"
        ),
        Meaning(
            .outcome,
            "accepted",
            "The job is on disk; what becomes of it is told elsewhere.",
            remedy: "See it: waystation explain JOB"
        ),
    ]
}

extension Meaning {
    /// Rules that a route has without being told.
    static let rules: [Meaning] = [
        Meaning(
            .rule,
            "stale-token",
            """
            Stands in front of the rules of a route whose credential can be fetched again and that has no rule with \
            refresh_credentials: a 401 fetches it anew, once a job, and the request is sent again.
            """,
            remedy: """
                Nothing is to be done; a rule with refresh_credentials takes its place, and refresh_on_401 of the \
                route's auth switches it off.
                """
        ),
        Meaning(
            .rule,
            "deliver-later",
            """
            The only rule of kept jobs on a route without a recovery list: what may pass by itself is tried again, \
            ever more rarely, for two days.
            """,
            remedy: "Nothing is to be done; a recovery list takes its place, also an empty one."
        ),
    ]

    /// The decisions after an attempt.
    static let actions: [Meaning] = [
        Meaning(
            .action,
            "retry",
            "The request is sent again, at once or after a wait.",
            remedy: "Nothing is to be done; the rule's max_attempts bounds it."
        ),
        Meaning(
            .action,
            "refresh_credentials",
            "The credential is fetched anew, and the request sent again with it.",
            remedy: "Nothing is to be done; the rule's max_times bounds it."
        ),
        Meaning(
            .action,
            "failover",
            "The request goes to another upstream.",
            remedy: """
                See why the first one failed; a request that may have been carried out moves \
                only where methods says so.
                """
        ),
        Meaning(
            .action,
            "respond",
            "An answer is given in the upstream's stead.",
            remedy: "See why the upstream did not answer."
        ),
        Meaning(
            .action,
            "respond_and_keep",
            """
            An answer was given in the upstream's stead, and the request goes on as a kept job, which has the id of the \
            request unless its idempotency key was known.
            """,
            remedy:
                "See why the upstream did not answer; waystation explain JOB tells when it is tried again."
        ),
        Meaning(
            .action,
            "quick_recovery",
            "The failure counts as a success, because quick_recovery of the route says so.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .action,
            "fail",
            "The request fails at once, without the rules below.",
            remedy: "See the failure; mend its cause."
        ),
        Meaning(
            .action,
            "dead_letter",
            "The job is given up for an operator to look at; a request that waits fails.",
            remedy: "Mend the cause, then retry the job, or drop it."
        ),
        Meaning(
            .action,
            "pause_route",
            "The route is paused, and the job waits for it; a request that waits fails.",
            remedy: "When the cause is gone: waystation resume ROUTE"
        ),
        Meaning(
            .action,
            "hold",
            "The job is put aside for an operator; a request that waits fails.",
            remedy: "When it may go on: waystation jobs release JOB"
        ),
    ]
}

extension Meaning {
    /// The actions on jobs.
    static let jobActions: [Meaning] = [
        Meaning(
            .jobAction,
            "retry",
            "Makes a waiting job due now, and gives one that is dead, cancelled or expired another life.",
            remedy: "See waystation help jobs."
        ),
        Meaning(
            .jobAction,
            "cancel",
            "Ends a job that waits, and asks for the end of one that runs.",
            remedy: "See waystation help jobs."
        ),
        Meaning(
            .jobAction,
            "hold",
            "Puts a waiting job aside until it is released.",
            remedy: "See waystation help jobs."
        ),
        Meaning(
            .jobAction,
            "release",
            "Lets a held job go on.",
            remedy: "See waystation help jobs."
        ),
        Meaning(
            .jobAction,
            "drop",
            "Removes a job that is not running, with everything about it but its idempotency key.",
            remedy: "See waystation help jobs."
        ),
        Meaning(
            .jobAction,
            "expunge",
            "Removes what a job that is over was sent and answered: bodies, fields, query and the upstream's words. Its record stays.",
            remedy: "Cancel a job that is not over first. See waystation help jobs."
        ),
    ]
}

extension Meaning {
    /// The roles of a listener: each says how far its callers may go.
    static let roles: [Meaning] = [
        Meaning(
            .role,
            "metrics",
            "Its callers read the metrics, and nothing else.",
            remedy: "For a Prometheus that scrapes a port of the loopback."
        ),
        Meaning(
            .role,
            "submit",
            "Its callers use routes, and see and cancel their own user's jobs.",
            remedy: "The usual jobs.sock has it; for more use the control socket."
        ),
        Meaning(
            .role,
            "read",
            "Its callers see everything, the metrics too.",
            remedy: "The role of a listener stands in the configuration."
        ),
        Meaning(
            .role,
            "operate",
            "Its callers act on jobs, routes and the network's condition, too.",
            remedy: "The role of a listener stands in the configuration."
        ),
        Meaning(
            .role,
            "admin",
            "Its callers reload the configuration, too.",
            remedy: "The usual control.sock has it, which is root's."
        ),
    ]
}
