import RelayJobs

extension Word {
    /// The ends of jobs that did not succeed, the first for every end that is not there; `explain` of a job advises the
    /// commands of its end, with the job's id.
    static let ends: KeyValuePairs<EndReason, String> = [
        .exhausted: """
        No rule of the route acts on the failure, or its rules and attempts are spent.
        Causes: The upstream failed for longer than the route retries, or in a way no rule acts on; explain of the job \
        says which.
        Do: Mend the upstream; to try again: waystation jobs retry JOB; to give up: waystation jobs drop JOB; for \
        longer patience change the route's recovery.
        """,
        .rejected: """
        A rule with dead_letter gave the job up, or it could not be made ready to send.
        Causes: The upstream says that it will never take this request.
        Do: See last_failure and the answer; correct what sends such requests, or the rule; to try again: \
        waystation jobs retry JOB; to give up: waystation jobs drop JOB
        """,
        .poison: """
        The job was under way at three crashes of the daemon in a row, and may be their cause.
        Causes: A mistake in the relay, or a machine that fails.
        Do: Look into the journal first; to try again: waystation jobs retry JOB; to give up: waystation jobs drop JOB
        """,
        .outcomeUnknown: """
        The request was sent, no answer is known, and repeating it may not be safe: it may have been carried out.
        Causes: The method is not idempotent and there is no key, and the attempt timed out or its connection broke, \
        or the daemon crashed or stopped during it.
        Do: Ask the upstream whether it has acted; see the last answer: waystation cat JOB --response; if it has \
        acted: waystation jobs drop JOB; if not: waystation jobs retry JOB; a bulk retry takes --unknown for such \
        jobs. Give such requests an Idempotency-Key.
        """,
        .notRepeatable: """
        The upstream answered with a failure that does not say it refused: it may have been carried out.
        Causes: The method is not idempotent and there is no key, and the answer was a failure other than 4xx and 503 \
        with Retry-After: 500, 502, 504, an error document in a 200.
        Do: Ask the upstream whether it has acted; see the last answer: waystation cat JOB --response; if it has \
        acted: waystation jobs drop JOB; if not: waystation jobs retry JOB; a bulk retry takes --unknown for such \
        jobs. Give such requests an Idempotency-Key, or let the rule say "methods": "any" where doing it twice \
        does no harm.
        """,
        .corrupt: """
        The disk no longer holds what was written.
        Causes: A failing disk, or somebody who changed the store's files.
        Do: Look at the disk; hand the request over again, then: waystation jobs drop JOB
        """,
        .superseded: """
        A newer job with the same Waystation-Supersede-Key took its place.
        Do: No action is needed; a retry takes --superseded, and sends the job after the newer one.
        """,
        .cancelled: """
        Somebody cancelled the job.
        Do: No action is needed; if that was a mistake: waystation jobs retry JOB; to remove it: waystation jobs \
        drop JOB
        """,
        .expired: """
        The time of the job ran out.
        Causes: delivery.expires_after, the caller's Waystation-Expires-After or Waystation-Timeout was shorter than \
        the upstream's outage.
        Do: A retry takes the expiry away; to try again: waystation jobs retry JOB; to give up: waystation jobs drop \
        JOB; give later jobs more time.
        """,
    ]
}
