extension Metric {
    package static let attemptsTotal = Metric(
        "waystation_attempts",
        .counter,
        ["route", "upstream", "result", "kind"],
        "Attempts of requests and of runs of kept jobs that are over; kind is why they failed, and empty where they did not.",
        do:
            "waystation explain KIND says what each means; an attempt that a breaker or a limit kept back counts too."
    )
    package static let upstreamFailures = Metric(
        "waystation_upstream_failures",
        .counter,
        ["route", "upstream"],
        "Failed attempts that tell of the upstream: none that were kept from it, or that their callers or a stop ended.",
        do: "waystation_attempts_total tells their kinds; waystation routes ROUTE the last one."
    )
    package static let connecting = Metric(
        "waystation_upstream_connections",
        .counter,
        ["route", "upstream", "use"],
        "Connections that were opened for attempts, and attempts for which there was one already (reused).",
        do:
            "Many are opened: the upstream, or what is before it, closes them after few requests or little time."
    )
    package static let handshakes = Metric(
        "waystation_upstream_handshakes",
        .counter,
        ["route", "upstream", "kind"],
        "TLS handshakes of those that were opened, full or resumed with a ticket of an earlier one.",
        do:
            "Full ones cost both sides the most: have the upstream hand out tickets, and keep connections open."
    )
    package static let connectDuration = Metric(
        "waystation_upstream_connect_duration_seconds",
        .summary,
        ["route", "upstream"],
        "How long connections took that were opened, with the handshake, without the look-up of the name.",
        do: "Much more than the way there and back: the network loses packets, or the upstream takes none."
    )
    package static let attemptDuration = Metric(
        "waystation_attempt_duration_seconds",
        .histogram,
        ["route", "upstream"],
        "How long attempts took that were dialled: to the answer's end where it was collected, to its head where it was "
            + "streamed.",
        do: "This is the upstream's own time: see there.",
        // 1, 5, 10, 50, 100 and 500 ms, and 1, 5, 10, 30 and 60 s.
        told: 0b0111_1011_0110_1101
    )
    package static let breakerState = Metric(
        "waystation_breaker_state",
        .gauge,
        ["route", "upstream", "state"],
        "1 for the state the upstream's breaker is in, 0 for the others.",
        do: "open: requests that fail at the upstream are not sent; waystation limits ROUTE says until when."
    )
    package static let breakerTransitions = Metric(
        "waystation_breaker_transitions",
        .counter,
        ["route", "upstream", "state"],
        "How often the upstream's breaker went to open, staying open after a probe among it, and to closed.",
        do: "Often both: the upstream flaps; look at it, and at circuit_breaker of the route."
    )
    package static let window = Metric(
        "waystation_upstream_window",
        .gauge,
        ["route", "upstream"],
        "Attempts that the upstream takes at once at present (adaptive_concurrency); absent where only permits bound them.",
        do: "Far below waystation_route_permits: the upstream is slow or says it is overloaded."
    )
    package static let heldUntil = Metric(
        "waystation_upstream_held_until_timestamp_seconds",
        .gauge,
        ["route", "upstream"],
        "Nothing is sent to the upstream before then, as it has asked (Retry-After, RateLimit); absent where it has not.",
        do: "Wait, or ask the upstream's people for more."
    )

    static let attempts = [
        attemptsTotal, upstreamFailures, attemptDuration, connecting, handshakes, connectDuration,
        breakerState, breakerTransitions, window, heldUntil,
    ]
}
