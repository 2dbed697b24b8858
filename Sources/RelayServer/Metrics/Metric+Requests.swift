import RelayBase
import RelayRoute

extension Metric {
    package static let requestsTotal = Metric(
        "waystation_requests",
        .counter,
        ["route", "outcome"],
        "Requests and kept jobs that are over, by how they came out.",
        do:
            "A rising share of failure: waystation routes ROUTE. fallback, placeholder and stale were answered in the "
            + "upstream's stead; cancelled were ended by their callers or an operator, or a newer job took their place."
    )
    package static let requestDuration = Metric(
        "waystation_request_duration_seconds",
        .histogram,
        ["route"],
        "How long callers waited for their answers, with all attempts and waits, to the answer's head where it is streamed; "
            + "failures for which nothing was dialled are left out.",
        do: "Compare with the attempts' duration: what is longer are retries, waits for a permit and backoff."
    )
    package static let rejected = Metric(
        "waystation_requests_rejected",
        .counter,
        ["route", "code"],
        "Requests and jobs that the relay answered itself instead of sending or keeping them, by the problem's code; route is "
            + "empty where none was looked up before, or it is none of the configuration.",
        do:
            "waystation explain CODE says what each means. Those that failed while they waited for a permit count as "
            + "failures of waystation_requests_total, too; a head that cannot be read or is too large counts in "
            + "waystation_http_requests_total alone."
    )
    package static let inFlight = Metric(
        "waystation_requests_in_flight",
        .gauge,
        ["route"],
        "Permits of the route that are taken: requests and kept jobs with the upstream.",
        do: "Near waystation_route_permits for long: raise concurrency if the upstream can bear it."
    )
    package static let waiting = Metric(
        "waystation_requests_waiting",
        .gauge,
        ["route"],
        "Requests that wait for a permit of the route.",
        do: "waystation limits ROUTE tells what they wait for."
    )
    package static let permits = Metric(
        "waystation_route_permits",
        .gauge,
        ["route"],
        "Permits of the route (concurrency.max_requests).",
        do: "It moves with the configuration alone."
    )
    package static let permitWait = Metric(
        "waystation_permit_wait_seconds",
        .histogram,
        ["route"],
        "How long requests waited for a permit of the route, of those that had to.",
        do: "waystation limits ROUTE tells what they wait for.",
        .wait
    )
    package static let breaches = Metric(
        "waystation_never_fails_breaches",
        .counter,
        ["route"],
        "Failures that reached callers of a route that never fails.",
        do: "Each is a defect of the route's rules: waystation explain JOB of the journal's record."
    )
    package static let recoveries = Metric(
        "waystation_recoveries",
        .counter,
        ["route", "rule", "action"],
        "How often a rule of the route has acted.",
        do: "A rule that acts all the time hides an upstream in trouble: waystation routes ROUTE."
    )
    package static let wouldHave = Metric(
        "waystation_would_have",
        .counter,
        ["route", "rule"],
        "How often a rule, or a part of the route's traffic, whose mode is report would have acted: rule is its name or key.",
        do: "When it would have done what is wanted: take its mode from the configuration."
    )
    package static let verifications = Metric(
        "waystation_verifications",
        .counter,
        ["route", "result"],
        "How often the upstream was asked what became of a request in doubt (verify), by what it said.",
        do:
            "Many are unclear: see what it answers, waystation explain JOB, and mend found, absent or settle_after."
    )
    package static let streamHeads = Metric(
        "waystation_stream_heads",
        .counter,
        ["route", "result"],
        "Heads of streamed answers that were held back (response.stream.commit_after), by what ended that: the event, bytes or "
            + "time it names, an answer that was whole by then, no room to hold it (memory), or a failure.",
        do:
            "Many failed: the upstream stalls behind its head, see waystation explain JOB. Many by time: it is slow to begin. "
            + "Any by memory: raise limits.memory."
    )
    package static let hedges = Metric(
        "waystation_hedges",
        .counter,
        ["route", "outcome"],
        "Attempts that were late (hedge), by what came of a second sending: its answer was taken (won), that of the first was, or "
            + "both failed (lost), or it was not sent (withheld).",
        do:
            "Many lost: raise percentile or least of hedge. Many withheld: waystation explain JOB says why; the upstream is slow "
            + "as a whole."
    )
    package static let looks = Metric(
        "waystation_operation_looks",
        .counter,
        ["route", "result"],
        "How often an operation of the upstream was looked at (follow), by what it said; told and untold: how often the upstream "
            + "was told to stop one (follow.cancel), by whether it took that.",
        do:
            "Many are unanswered or gone: see the last look of a job, waystation explain JOB, and mend follow. Any are untold: "
            + "stop the operation at the upstream."
    )
    package static let budgetExhausted = Metric(
        "waystation_retry_budget_exhausted",
        .counter,
        ["route"],
        "Failures that were not tried again because the route's retries were as much of its load as they may be.",
        do: "The upstream fails broadly: mend it. The budget keeps retries from making that worse."
    )
    package static let retryDelay = Metric(
        "waystation_retry_delay_seconds",
        .summary,
        ["route"],
        "How long retries were put off, by the schedule of their rule or as the upstream asked.",
        do: "Longer than the rule's own waits: the upstream asks for patience with Retry-After."
    )
    package static let retriesInFlight = Metric(
        "waystation_retries_in_flight",
        .gauge,
        ["route"],
        "Retries under way, their waits included.",
        do: "waystation limits ROUTE."
    )
    package static let retriesLeft = Metric(
        "waystation_retries_left",
        .gauge,
        ["route"],
        "Retries more that requests may decide on now; absent without a budget.",
        do: "waystation limits ROUTE."
    )
    package static let slotsLeft = Metric(
        "waystation_rate_limit_turns_left",
        .gauge,
        ["route"],
        "Attempts more that may begin at once by the route's rate_limit; absent without one.",
        do: "Zero for long: callers send more than rate_limit lets through."
    )
    package static let paused = Metric(
        "waystation_route_paused",
        .gauge,
        ["route"],
        "Whether the route is paused.",
        do: "When its cause is gone: waystation resume ROUTE."
    )
    package static let closed = Metric(
        "waystation_route_closed",
        .gauge,
        ["route"],
        "Whether the route is in a window of its closed; absent without any.",
        do: "It opens by itself: waystation routes ROUTE says when."
    )

    package static let ordinary = Metric(
        "waystation_requests_ordinary",
        .counter,
        ["route", "reason"],
        "Requests that took the ordinary path instead of being passed through, by why; streams and kept jobs are not among "
            + "them. " + listed(OrdinaryReason.allCases.map { ($0.rawValue, $0.sentence) }),
        do:
            "Nothing is wrong with them; each costs several times the processor time of one that is passed through."
    )
    package static let promoted = Metric(
        "waystation_requests_promoted",
        .counter,
        ["route", "reason"],
        "Requests, and first attempts of kept jobs, that were being passed through and went on by the ordinary path, "
            + "by why. "
            + listed(PromotionReason.allCases.map { ($0.rawValue, $0.sentence) }),
        do: "A high share of answer tells of an upstream that sends its answers in pieces."
    )

    private static func listed(_ reasons: [(name: String, sentence: String)]) -> String {
        reasons.map { "\($0.name): \($0.sentence)" }.joined(separator: "; ") + "."
    }

    static let requests = [
        requestsTotal, requestDuration, rejected, inFlight, waiting, permitWait, permits, breaches,
        recoveries, wouldHave,
        retryDelay,
        budgetExhausted,
        verifications, looks, streamHeads, hedges,
        retriesInFlight, retriesLeft, slotsLeft, paused, closed,
        ordinary, promoted,
    ]
}
