extension Meaning {
    /// Codes of problems that the upstream or the relay is the cause of.
    static let troubles: [Meaning] = [
        Meaning(
            .problem,
            "internal_error",
            status: 500,
            "The relay failed in a way that is its own fault.",
            causes: "A mistake in the relay; this version has no place that answers this.",
            remedy: "Look into the journal and report it."
        ),
        Meaning(
            .problem,
            "not_implemented",
            status: 501,
            "The relay does not do this.",
            causes: "CONNECT or TRACE, which cannot be repeated; a transfer coding other than chunked.",
            remedy: "Send the request itself; the relay speaks TLS with the upstream."
        ),
        Meaning(
            .problem,
            "upstream_failed",
            status: 502,
            "The upstream could not be reached, or broke off before it had answered.",
            causes: """
                It is down, its name or address is wrong, a firewall stands between, or TLS failed; kind \
                says which.
                """,
            remedy: "See waystation explain with the job's id and with the kind."
        ),
        Meaning(
            .problem,
            "invalid_response",
            status: 502,
            "The upstream answered something that is no valid answer.",
            causes: """
                Broken or incomplete HTTP, content that is too large or fails the route's success rules; \
                kind says which.
                """,
            remedy: "See waystation explain with the job's id; mend the upstream or the route's rules."
        ),
        Meaning(
            .problem,
            "credentials_failed",
            status: 502,
            "The route's credential could not be obtained, so nothing was sent.",
            causes: "The token endpoint is down or refuses; the secret was replaced.",
            remedy: """
                See in detail what the token endpoint answered; compare token_url, client_id and the secret \
                of the auth section with what it expects, and reload after a change.
                """
        ),
        Meaning(
            .problem,
            "breaker_open",
            status: 503,
            "The circuit breaker stops requests that fail at the upstream, so nothing was sent.",
            causes:
                "Of the attempts that ended in the last 2 s, or of the last 20, 95 in a hundred failed, or what circuit_breaker says.",
            remedy: "Wait as Retry-After says; mend the upstream, or give the route a rule on breaker_open."
        ),
        Meaning(
            .problem,
            "overloaded",
            status: 503,
            """
            There is no room for another request on the route, for another connection, for a body in \
            memory, or for another caller that waits for a job.
            """,
            causes: """
                concurrency.max_requests are under way and concurrency.max_pending_requests wait; \
                limits.max_connections or limits.max_requests is reached, or by one user its \
                limits.per_user.max_connections, max_requests or max_bytes, or nearly the first by requests that wait \
                on this route; the process has no descriptors left \
                but those kept for operators; a body found no room in limits.memory in time; memory is short \
                (limits.shedding); the upstream has become slow.
                """,
            remedy: """
                Wait as Retry-After says; detail names the limit. Raise concurrency when the upstream can \
                bear it; find the user that takes so much under callers of waystation status --json.
                """
        ),
        Meaning(
            .problem,
            "draining",
            status: 503,
            "The daemon is stopping, or is not ready yet.",
            causes: "It is being stopped or restarted.",
            remedy: "Send the request again in a moment."
        ),
        Meaning(
            .problem,
            "not_started",
            status: 503,
            "The daemon could not start, and nothing was sent.",
            causes: """
                Its configuration is not valid, its job store has to be mended, or its unit gives it wrong \
                arguments; detail says which. systemd holds the sockets, and starts it again for the next caller.
                """,
            remedy: "Mend what detail tells (journalctl -x says how), and send the request again."
        ),
        Meaning(
            .problem,
            "route_paused",
            status: 503,
            "The route is paused, and the caller will not wait.",
            causes: """
                An operator paused it, or a rule with pause_route, such as one on the 410 of a receiver \
                of webhooks.
                """,
            remedy: "Send it with Prefer: respond-async, or end the pause: waystation resume ROUTE"
        ),
        Meaning(
            .problem,
            "queue_full",
            status: 503,
            "As many jobs wait for their delivery as may.",
            causes: """
                limits.max_queued_jobs is reached, or by one user its limits.per_user.max_queued_jobs; an \
                upstream is down, or slower than its callers.
                """,
            remedy: """
                See waystation shape for what waits; mend that upstream, cancel jobs, or raise the \
                limit.
                """
        ),
        Meaning(
            .problem,
            "storage_failed",
            status: 503,
            "The job store did not do what was asked.",
            causes: """
                The disk fails, or the store is closed; a failed commit ends the daemon, and systemd \
                starts it again.
                """,
            remedy: "Wait as Retry-After says; look into the journal and at the disk."
        ),
        Meaning(
            .problem,
            "storage_stalled",
            status: 503,
            "The job store takes no writes, or gives no reads, so what was asked could not be done in time.",
            causes: """
                The disk of the state directory does not answer, or very slowly: another program \
                writes a lot, a device fails, a volume is not reachable.
                """,
            remedy: """
                Send the request again as Retry-After says: with an idempotency key it is the same job. \
                Without one a job that was refused so is not sent, unless the daemon ends before the disk \
                moves: then it may be. What was asked of kept jobs or of routes may still be carried out, as \
                detail says. Look at the disk; waystation status says when it is over.
                """
        ),
        Meaning(
            .problem,
            "storage_corrupt",
            status: 500,
            "What is on disk is no longer what was stored.",
            causes: "The disk or the memory of the machine fails, or somebody has changed the files.",
            remedy: """
                See waystation status for how many records are damaged, and the disk's state; the job \
                cannot be delivered as it was.
                """
        ),
        Meaning(
            .problem,
            "upstream_timeout",
            status: 504,
            "The upstream did not answer in the time of an attempt.",
            causes: """
                It is slow or hangs; timeouts.attempt, timeouts.connect or timeouts.idle is short; kind \
                says which ran out.
                """,
            remedy: """
                See waystation explain with the job's id; raise the timeout or add a rule that retries.
                """
        ),
        Meaning(
            .problem,
            "deadline_exceeded",
            status: 504,
            "All the time that the request had is over.",
            causes: """
                timeouts.total, the caller's Waystation-Timeout or, of a kept job, its expiry; the \
                attempts and the waits between them took longer, without the time in which bodies moved.
                """,
            remedy: """
                See waystation explain with the job's id for where the time went; give it more time or \
                fewer retries.
                """
        ),
        Meaning(
            .problem,
            "version_not_supported",
            status: 505,
            "The request is of another version than HTTP/1.0 and HTTP/1.1.",
            causes: "A client that speaks HTTP/2 from the start.",
            remedy: "Use HTTP/1.1."
        ),
        Meaning(
            .problem,
            "storage_full",
            status: 507,
            "There is no room to keep the job, so it was not accepted.",
            causes: "storage.max_size is reached, or the disk is full.",
            remedy: """
                Free space on the disk, raise storage.max_size, or drop jobs; acceptance comes back by \
                itself.
                """
        ),
        Meaning(
            .problem,
            "loop",
            status: 508,
            "The request has passed through this relay before.",
            causes: "A route whose upstream leads back to the relay; the relay stands in Via.",
            remedy: "Correct the route's upstream."
        ),
    ]
}
