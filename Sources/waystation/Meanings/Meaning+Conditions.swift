extension Meaning {
    /// How a route is doing.
    static let routeStates: [Meaning] = [
        Meaning(
            .routeState,
            "ok",
            "Nearly all of the latest requests succeeded, or none has ended yet.",
            remedy: "Nothing; DEAD of waystation status counts the jobs that were given up earlier."
        ),
        Meaning(
            .routeState,
            "busy",
            "Requests wait for a permit: concurrency.max_requests are with the upstream.",
            causes: "The upstream is slow, or its callers come all at once.",
            remedy: "Wait; raise concurrency when the upstream can bear it."
        ),
        Meaning(
            .routeState,
            "degraded",
            """
            At least one of twenty of the latest requests failed or was answered by a stand-in, or the circuit breaker \
            of one of several upstreams is open.
            """,
            causes:
                "An upstream fails now and then, or a rule with respond or failover helps its callers meanwhile.",
            remedy: "See LAST FAILURE of waystation status; mend the upstream."
        ),
        Meaning(
            .routeState,
            "failing",
            "At least half of the latest requests failed; an attempt that puts a kept job off counts as one.",
            causes: """
                The upstream fails, or refuses the requests; the percentage of the status counts since the start of the \
                daemon, and may still be high.
                """,
            remedy: "See the last failure with waystation routes ROUTE; mend the upstream, or the request."
        ),
        Meaning(
            .routeState,
            "paused",
            """
            The route sends nothing new: its kept jobs wait, and other requests are answered 503; \
            those that waited already go on.
            """,
            causes: "An operator paused it, or a rule with pause_route.",
            remedy: "When the cause is gone: waystation resume ROUTE"
        ),
        Meaning(
            .routeState,
            "unconfigured",
            "The configuration has no such route; only its jobs are left.",
            causes: "A route that was renamed or removed while it had jobs.",
            remedy: "Put the route back and reload; or cancel its jobs, and drop those that are over."
        ),
    ]
}

extension Meaning {
    /// How the daemon is doing.
    static let daemonStates: [Meaning] = [
        Meaning(
            .daemonState,
            "serving",
            "The daemon takes requests.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .daemonState,
            "reload_failed",
            "The daemon takes requests with its old configuration: the new one was refused.",
            causes: "A mistake in the file; a secret or certificate that cannot be read.",
            remedy: "See what waystation status says of it; correct the file, then waystation reload."
        ),
        Meaning(
            .daemonState,
            "draining",
            "The daemon is stopping: it ends what is under way and takes nothing new.",
            remedy: "Wait; kept jobs go on after its next start."
        ),
    ]
}

extension Meaning {
    /// How the job store is doing.
    static let storeStates: [Meaning] = [
        Meaning(
            .storeState,
            "ok",
            "There is room for jobs.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .storeState,
            "full",
            """
            There is no room for jobs: none is accepted, or a large one was refused within the last ten \
            seconds; those that are kept are delivered. Where a start finds no room even for that, they \
            wait until there is.
            """,
            causes: "storage.max_size is reached, or the disk is full.",
            remedy: """
                Free space on the disk, raise storage.max_size, or drop jobs; acceptance comes \
                back by itself.
                """
        ),
        Meaning(
            .storeState,
            "stalled",
            "The disk of the job store takes no writes: no job is accepted, and none ends.",
            causes: "A failing disk, or one that others keep busy; network storage that is away.",
            remedy: "Look at the disk and at the kernel's log; it goes on by itself when writes do."
        ),
        Meaning(
            .storeState,
            "gone",
            """
            A file of the job store was removed or replaced under the relay: no job is accepted or delivered, since no \
            start would find what is written.
            """,
            causes: "Somebody cleans the state directory, or restores a backup under a relay that runs.",
            remedy: """
                Move the files back, and it goes on by itself; or stop the relay, restore a backup and start it. What \
                was deleted can be copied from /proc/PID/fd while the relay runs.
                """
        ),
    ]
}

extension Meaning {
    /// How a credential is doing.
    static let credentialStates: [Meaning] = [
        Meaning(
            .credentialState,
            "not_fetched",
            "No request has needed the credential yet.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .credentialState,
            "valid",
            "There is a token; none that was fetched anew has been refused.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .credentialState,
            "refreshing",
            "A token is being fetched; the requests that need it wait.",
            remedy: "Wait a moment."
        ),
        Meaning(
            .credentialState,
            "failing",
            "The last fetch of a token failed; requests that need one fail, and kept jobs wait.",
            causes: "The token endpoint is down or refuses; the secret was replaced.",
            remedy: """
                See in the last failure what the token endpoint answered; compare token_url, client_id and the \
                secret with what it expects, and reload.
                """
        ),
        Meaning(
            .credentialState,
            "refused",
            """
            An upstream refused a token that had just been fetched, and has taken none since; refused_by names the \
            routes. For 1 s after that, then twice as long each time up to 5 min, none is fetched for them.
            """,
            causes: """
                The client lacks the right or the scope, the token is for another audience, or the upstream and the \
                token endpoint disagree.
                """,
            remedy: """
                Compare scopes, audience and the account with what the upstream wants; it goes by itself with the \
                first request that succeeds.
                """
        ),
    ]
}
