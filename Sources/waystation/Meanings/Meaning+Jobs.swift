extension Meaning {
    /// States of kept jobs.
    static let states: [Meaning] = [
        Meaning(
            .state,
            "scheduled",
            "The job is not due before the date that its caller named.",
            remedy: "Wait; or cancel it, hold it, or retry it, which makes it due now."
        ),
        Meaning(
            .state,
            "queued",
            "The job is due, and is sent as soon as nothing holds it back; blocker says what does.",
            remedy: "Wait, or mend what it waits for; cancel or hold it if it should not go."
        ),
        Meaning(
            .state,
            "running",
            "The job is with the upstream.",
            remedy: "Wait; or cancel it, which cuts the attempt off."
        ),
        Meaning(
            .state,
            "retrying",
            "An attempt has failed, and the next is due at a date.",
            remedy: "Wait; or cancel it, hold it, or retry it, which makes it due now."
        ),
        Meaning(
            .state,
            "held",
            "The job is put aside until its route goes on or somebody releases it.",
            remedy: "Release it when it may go on, or resume its route where that is paused; or cancel it."
        ),
        Meaning(
            .state,
            "succeeded",
            "The job is over: the upstream did what was asked.",
            remedy: "Nothing is to be done; drop it, or expunge its bodies, if they should not be kept."
        ),
        Meaning(
            .state,
            "dead",
            "The job is over without success, and end says why.",
            remedy: "Mend the cause, then retry it, which gives it another life; or drop it."
        ),
        Meaning(
            .state,
            "cancelled",
            "The job is over because somebody cancelled it or a newer one took its place.",
            remedy: "Retry it if that was a mistake, or drop it."
        ),
        Meaning(
            .state,
            "expired",
            "The job is over because its time ran out before it was delivered.",
            remedy: "Retry it, which takes the expiry away, or drop it."
        ),
    ]
}

extension Meaning {
    /// Why a job waits, or is not sent yet.
    static let reasons: [Meaning] = [
        Meaning(
            .reason,
            "backoff",
            "The last attempt failed, and a rule named the date of the next.",
            remedy: "Wait, or make it due now: waystation jobs retry JOB"
        ),
        Meaning(
            .reason,
            "breaker_open",
            "The circuit breaker stops requests that fail at the upstream; the job has lost no attempt.",
            causes:
                "Of the attempts that ended in the last 2 s, or of the last 20, 95 in a hundred failed, or what circuit_breaker says.",
            remedy: "Mend the upstream; one job at a time tries it again, and the others follow."
        ),
        Meaning(
            .reason,
            "rate_limited",
            "The route's rate is used up for the moment.",
            causes: "More to send than rate_limit allows.",
            remedy: "Wait; raise rate_limit when the upstream can bear it."
        ),
        Meaning(
            .reason,
            "concurrency",
            "The route's permits are taken: concurrency.max_requests are with the upstream.",
            causes: """
                The upstream is slow, or a backlog drains; answers stream; the upstream's window is narrow \
                (adaptive_concurrency); \
                memory is short, when kept jobs have a quarter of the permits (limits.shedding).
                """,
            remedy: "Wait; raise concurrency.max_requests when the upstream can bear it."
        ),
        Meaning(
            .reason,
            "route_paused",
            "The route is paused by an operator or by a rule, and the job goes on with it.",
            causes: """
                Maintenance; a rule with pause_route, such as one on the 410 of a receiver of webhooks.
                """,
            remedy: "When the cause is gone: waystation resume ROUTE"
        ),
        Meaning(
            .reason,
            "ordering",
            "An earlier job of the same user with the same ordering key is not over.",
            causes: "That job waits or is retried.",
            remedy: "Explain that one; deliver, cancel or drop it."
        ),
        Meaning(
            .reason,
            "not_before",
            "The date that the caller named has not come.",
            remedy: "Wait, or make it due now: waystation jobs retry JOB"
        ),
        Meaning(
            .reason,
            "operator_hold",
            "An operator or a rule with hold put the job aside.",
            remedy: "When it may go on: waystation jobs release JOB"
        ),
        Meaning(
            .reason,
            "credentials",
            "The route's credential could not be obtained; the job has lost no attempt.",
            causes: "The token endpoint is down or refuses; the secret was replaced.",
            remedy: "Mend the credential; one job at a time tries it again, and the others follow."
        ),
        Meaning(
            .reason,
            "throttled",
            "The job is held back to spare the upstream.",
            causes: """
                The upstream asked for patience (Retry-After, RateLimit); the route's retries are as much of its load \
                as retry_budget allows; a replay at a rate; a relay that is short of something for a moment.
                """,
            remedy: "Wait."
        ),
        Meaning(
            .reason,
            "due",
            "Nothing keeps the job: it is next.",
            remedy: "Wait a moment."
        ),
        Meaning(
            .reason,
            "route_removed",
            "The configuration has the route of the job no more.",
            causes: "A route that was renamed or removed while jobs waited.",
            remedy: "Put the route back and reload, or cancel the job."
        ),
    ]
}

extension Meaning {
    /// Why a job that did not succeed is over.
    static let ends: [Meaning] = [
        Meaning(
            .end,
            "exhausted",
            "No rule of the route acts on the failure, or every rule and every attempt of the job is spent.",
            causes:
                "The upstream failed for longer than the route retries, or in a way no rule acts on; explain of the job says which.",
            remedy: """
                Mend the upstream, then retry the job; for longer patience change the route's recovery.
                """
        ),
        Meaning(
            .end,
            "rejected",
            "A rule with dead_letter gave the job up, or it could not be made ready to send.",
            causes: "The upstream says that it will never take this request.",
            remedy: "See last_failure and the answer; correct what sends such requests."
        ),
        Meaning(
            .end,
            "poison",
            "The job was under way at three crashes of the daemon in a row, and may be their cause.",
            causes: "A mistake in the relay, or a machine that fails.",
            remedy: "Look into the journal before retrying it."
        ),
        Meaning(
            .end,
            "outcome_unknown",
            "The request was sent, no answer is known, and repeating it may not be safe: it may have been carried out.",
            causes: """
                The method is not idempotent and there is no key, and the attempt timed out or its \
                connection broke, or the daemon crashed or stopped during it.
                """,
            remedy: """
                Ask the upstream whether it has acted; retry the job only if it has not. A bulk retry \
                leaves it alone without --unknown. Give such requests an Idempotency-Key.
                """
        ),
        Meaning(
            .end,
            "not_repeatable",
            "The upstream answered with a failure that does not say it refused: it may have been carried out.",
            causes: """
                The method is not idempotent and there is no key, and the answer was a failure other \
                than 4xx and 503 with Retry-After: 500, 502, 504, an error document in a 200.
                """,
            remedy: """
                Ask the upstream whether it has acted; retry the job only if it has not. A bulk retry \
                leaves it alone without --unknown. Give such requests an Idempotency-Key, or let the rule \
                say "methods": "any" where doing it twice does no harm.
                """
        ),
        Meaning(
            .end,
            "corrupt",
            "The disk no longer holds what was written.",
            causes: "A failing disk, or somebody who changed the store's files.",
            remedy: "Look at the disk; hand the request over again."
        ),
        Meaning(
            .end,
            "superseded",
            "A newer job with the same Waystation-Supersede-Key took the place of this one.",
            remedy: "Nothing is to be done."
        ),
        Meaning(
            .end,
            "cancelled",
            "Somebody cancelled the job.",
            remedy: "If that was a mistake, retry it."
        ),
        Meaning(
            .end,
            "expired",
            "The time of the job ran out.",
            causes: """
                delivery.expires_after, the caller's Waystation-Expires-After or Waystation-Timeout was \
                shorter than the upstream's outage.
                """,
            remedy: "Retry it, which takes the expiry away; give later jobs more time."
        ),
    ]
}

extension Meaning {
    /// How far a request got.
    static let reaches: [Meaning] = [
        Meaning(
            .sent,
            "never_sent",
            "No byte of the request reached the wire.",
            remedy: "Repeating it is always safe; it costs none of the job's attempts, but one of the rule's."
        ),
        Meaning(
            .sent,
            "unknown",
            "Bytes were sent and no complete answer came, so the upstream may have acted.",
            remedy: """
                It is repeated when the method is idempotent, the request has an idempotency key, or the \
                rule says methods any.
                """
        ),
        Meaning(
            .sent,
            "refused",
            """
            The upstream answered that it did not carry the request out: 4xx, or 503 with Retry-After, or \
            what treat_as_status of the route makes one.
            """,
            remedy: "Repeating it is safe; what happens next is what the route's rules say."
        ),
        Meaning(
            .sent,
            "answered",
            "The upstream gave a complete answer that does not say it refused, so it may have acted.",
            remedy: """
                After a failure it is repeated when the method is idempotent, the request has an \
                idempotency key, or the rule says methods any.
                """
        ),
    ]
}
