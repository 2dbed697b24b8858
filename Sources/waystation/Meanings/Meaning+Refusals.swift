extension Meaning {
    /// Codes of problems that the request or the job is the cause of.
    static let refusals: [Meaning] = [
        Meaning(
            .problem,
            "bad_request",
            status: 400,
            """
            The request is not HTTP/1.1, breaks off, or has a document that is not what the resource \
            reads.
            """,
            causes: """
                A client that speaks another protocol; a document that is not JSON; an event id that is \
                no number; a connection that ended inside a request.
                """,
            remedy: "Read detail and errors; they name the byte or the member."
        ),
        Meaning(
            .problem,
            "bad_header",
            status: 400,
            "A header field of the request is not acceptable.",
            causes: """
                A field beginning with Waystation- that is misspelt, repeated or out of its bounds; a delay or a \
                date that comes after the job's expiry; an Idempotency-Key that is empty, repeated or longer than \
                256 bytes; framing fields that contradict each other.
                """,
            remedy: "Correct the field that detail names; did_you_mean has the nearest one."
        ),
        Meaning(
            .problem,
            "bad_target",
            status: 400,
            "The path or a parameter is not acceptable.",
            causes: """
                Dot segments or empty segments in the path; a parameter that is unknown, stands twice or \
                is out of its bounds.
                """,
            remedy: "Correct what detail names; values in a query are percent-encoded."
        ),
        Meaning(
            .problem,
            "preparation_failed",
            status: 400,
            "The request could not be made ready for the upstream, so nothing was sent.",
            causes: """
                A step of the route's request rules does not fit this request, such as an envelope \
                around a body that is not JSON.
                """,
            remedy: "Correct the request, or the request section of the route."
        ),
        Meaning(
            .problem,
            "not_allowed",
            status: 403,
            "The caller may not do this.",
            causes: """
                The socket gives a lower role than the resource takes; allow_users and allow_groups of \
                the route or the listener do not name the caller; the caller came over TCP with an \
                Origin or a Host that is not of the loopback.
                """,
            remedy: "Use the control socket, or let the configuration name the caller."
        ),
        Meaning(
            .problem,
            "route_not_found",
            status: 404,
            "The configuration has no route of this name.",
            causes: "A misspelt name; a configuration that was changed and not reloaded.",
            remedy: "See waystation routes for the names; did_you_mean has the nearest one."
        ),
        Meaning(
            .problem,
            "job_not_found",
            status: 404,
            "No job that the caller may see has this id.",
            causes: """
                The job is of another user; its retention is over, or somebody dropped it; it was \
                answered at once and more than 1024 others ended since.
                """,
            remedy: "Look with the role read, or in the journal: waystation logs ID"
        ),
        Meaning(
            .problem,
            "path_not_found",
            status: 404,
            "The relay has nothing at this path, or the job never had an answer to show.",
            causes: "A misspelt path; the response of a job that ended without one.",
            remedy: "Requests go to /r/ROUTE/PATH, everything else is below /v1/."
        ),
        Meaning(
            .problem,
            "method_not_allowed",
            status: 405,
            "The resource does not have this method.",
            causes: "A GET in place of a POST, or the reverse.",
            remedy: "Use one of the methods in the field Allow."
        ),
        Meaning(
            .problem,
            "request_timeout",
            status: 408,
            "The request did not arrive in time.",
            causes: """
                A head took longer than 10 seconds, a document for the API longer than 60; a body paused for longer \
                than timeouts.idle of its route, came more slowly than timeouts.min_rate, or was not there in the \
                caller's own Waystation-Timeout; nothing came on a stream of jobs for 60 seconds while none was \
                under way.
                """,
            remedy: "Send it again; send large bodies without pauses."
        ),
        Meaning(
            .problem,
            "idempotency_in_progress",
            status: 409,
            "Another request with this idempotency key still waits for its answer.",
            causes: "A client that repeats before the first try has ended.",
            remedy: """
                Wait as Retry-After says and send it again; the field Location names the job that has \
                the key.
                """
        ),
        Meaning(
            .problem,
            "job_state",
            status: 409,
            "The job is in a state in which this cannot be done.",
            causes: "It is over already, or is running; somebody else was faster.",
            remedy: "Look at the job again; detail tells its state and what the action needs."
        ),
        Meaning(
            .problem,
            "response_not_ready",
            status: 409,
            "The job is not over, so it has no response yet.",
            causes: "It waits or is with the upstream.",
            remedy: "Ask with Prefer: wait=30, or later; waystation explain tells what it waits for."
        ),
        Meaning(
            .problem,
            "body_expired",
            status: 410,
            "The body is no longer kept.",
            causes: """
                storage.retention.bodies is over; delivery.keep_requests or delivery.keep_responses says \
                that it is not kept; somebody expunged it; the job was answered at once, of which no \
                body is kept.
                """,
            remedy: "A request that must be delivered all the same has to be handed over again."
        ),
        Meaning(
            .problem,
            "precondition_failed",
            status: 412,
            "The job has changed since the caller looked at it.",
            causes: "If-Match names another version than the job has now.",
            remedy: "Read the job again, decide again, and send the new ETag."
        ),
        Meaning(
            .problem,
            "content_too_large",
            status: 413,
            "The body is larger than may be.",
            causes: "It exceeds limits.max_request_body, or a document of the API exceeds 1 MiB.",
            remedy: "Send less, or raise limits.max_request_body; large content goes by /r/ROUTE/PATH."
        ),
        Meaning(
            .problem,
            "target_too_long",
            status: 414,
            "Path and query are longer than 16 KiB.",
            causes: "Content was put into the query.",
            remedy: "Put it into the body."
        ),
        Meaning(
            .problem,
            "unsupported_media_type",
            status: 415,
            "The document has another type than the resource reads.",
            causes: "A form in place of JSON: curl -d without a Content-Type sends one.",
            remedy: "Send application/json, for a stream of jobs application/x-ndjson; curl has --json."
        ),
        Meaning(
            .problem,
            "expectation_failed",
            status: 417,
            "The field Expect asks for something that is not known.",
            causes: "Anything but 100-continue.",
            remedy: "Leave the field out."
        ),
        Meaning(
            .problem,
            "invalid_job",
            status: 422,
            "The job or the action is not valid.",
            causes: "A member that is unknown, misplaced, of the wrong type or out of its bounds.",
            remedy: "Correct every place in errors: pointer says where, hint what was probably meant."
        ),
        Meaning(
            .problem,
            "config_rejected",
            status: 422,
            "The configuration has errors, so the old one stays in force.",
            causes: "A mistake in the file, or a secret or certificate that cannot be read.",
            remedy: "Run waystationd --check, mend what it tells, and reload again."
        ),
        Meaning(
            .problem,
            "idempotency_key_reused",
            status: 422,
            "The idempotency key belongs to a job with another method, target or body.",
            causes: "A key that is not unique; a client that changed the request and kept the key.",
            remedy: "Take a new key for a new request; the field Location names the job that has this one."
        ),
        Meaning(
            .problem,
            "rate_limited",
            status: 429,
            "The request could not wait as long as it would have had to, so nothing was sent.",
            causes: """
                The upstream asked for patience (Retry-After, RateLimit) beyond the request's time; the route's \
                rate_limit has no turn before it; the user sends faster than limits.per_user.rate allows.
                """,
            remedy: "Wait as Retry-After says; send less, give requests more time, or have them kept."
        ),
        Meaning(
            .problem,
            "head_too_large",
            status: 431,
            "The head of the request is larger than 64 KiB, or has more than 200 fields.",
            causes: "Large cookies; content that was put into fields.",
            remedy: "Send fewer or shorter fields."
        ),
    ]
}
