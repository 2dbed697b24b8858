import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension OpenAPI {
    static let routeSchemas: [(name: String, schema: Schema)] = [
        ("Route", .object(routeMembers)),
        ("RouteList", .object([Property("routes", .list(.named("Route")))])),
        ("RouteUpstream", .object(upstreamMembers)),
        (
            "LastFailure",
            .object([
                Property("kind", .failureKind), .maybe("status", .status), Property("detail", .text),
                Property("at", .moment),
            ])
        ),
        (
            "PauseOrder",
            .strict([
                .maybe(
                    "reason",
                    .text(JobFilter.textLengths).with("pattern", .string("^[^\\u0000-\\u001f\\u007f]*$")),
                    "In bytes."
                ),
                .maybe("for", .duration(PauseOrder.durations), "Without it until the route is resumed."),
            ])
        ),
        (
            "BreakerOrder",
            .strict([
                Property("state", .word(BreakerMachine.Order.allCases.map(\.rawValue) + [BreakerOrder.auto])),
                .maybe("upstream", .text(JobFilter.textLengths), "Without it all of the route."),
                .maybe("for", .duration(BreakerOrder.durations).standard(.string("10m"))),
            ])
        ),
        (
            "ClearOrder",
            .strict([
                .maybe("upstream", .text(JobFilter.textLengths), "Without it all of the route."),
                .maybe(
                    "requests",
                    .text(JobFilter.textLengths),
                    "As `failing` and `holds` name them; without it all."
                ),
            ])
        ),
        (
            "Shape",
            .object([
                Property("by", .word(ShapeTable.Key.allCases.map(\.rawValue))),
                Property("bucket_ms", .list(.count), "The end of each bucket but the last."),
                Property("total", .object(counts)),
                Property("rows", .list(.object([Property("key", .text)] + counts))),
            ]).doc("How many jobs wait, by how long already.")
        ),
        (
            "History",
            .object([
                Property("interval_ms", .count, "How long a column is."),
                Property("began_at", .moment, "When the first column began."),
                Property("columns", .integer(1...HistoryMachine.columns), "The last one is running."),
                Property("routes", .list(.object(history))),
            ]).doc("The last hour of routes, in columns, oldest first.")
        ),
    ]

    private static let history: [Property] =
        [Property("name", .text)]
        + ["requests", "failures", "fallbacks", "attempts", "failed_attempts"].map {
            Property($0, .list(.count))
        }
        + ["p50_ms", "p99_ms", "attempt_p50_ms", "attempt_p99_ms"].map {
            Property($0, .list(.orNull(.milliseconds)))
        }

    private static let counts: [Property] = [
        Property("total", .count), Property("counts", .list(.count), "By age."),
    ]

    /// Why a request, or each of a route, was not passed through.
    private static func ordinaryPath(_ reasons: [String], _ text: String) -> Property {
        .maybe(
            "ordinary_path",
            .object([Property("reason", .word(reasons)), Property("detail", .text)]),
            text
        )
    }

    /// How a route is doing, wherever the API tells of one.
    static func condition(_ words: [String]) -> [Property] {
        [
            Property("name", .text), Property("state", .word(words)),
            .maybe("in_flight", .count), .maybe("pending", .count), .maybe("requests", .count),
            .maybe("succeeded", .count), .maybe("failed", .count), .maybe("cancelled", .count),
            .maybe("recovered", .count), .maybe("fallbacks", .count),
            .maybe("never_fails_breaches", .count), .maybe("consecutive_failures", .count),
            .maybe(
                "lately",
                .object([
                    Property("requests", .count), Property("failed", .count), Property("stand_ins", .count),
                ]),
                "Of the last minute, or of the latest twenty within the hour where those are few: what the state goes by."
            ),
            .maybe("last_failure", .orNull(.named("LastFailure"))),
        ]
    }

    static let conditions = RouteCondition.allCases.map(\.rawValue) + [RouteState.paused]

    private static let routeMembers: [Property] =
        condition(conditions + [RouteState.unconfigured]) + [
            .maybe(
                "pause",
                .object([
                    Property("reason", .text), Property("began_at", .moment), .maybe("until", .moment),
                    .maybe("rule", .text), .maybe("by", .named("Principal"), "Who paused it."),
                ])
            ),
            .maybe("delivery", .word(DeliveryMode.allCases.map(\.rawValue))), .maybe("max_requests", .count),
            .maybe("max_pending_requests", .count), .maybe("upstreams", .list(.named("RouteUpstream"))),
            .maybe("credential", .text, "The name of the one it uses."),
            ordinaryPath(
                OrdinaryReason.ofRoutes.map(\.rawValue),
                "Why none of its requests is passed through; absent where they may be."
            ),
            .maybe("retries_under_way", .count),
            .maybe("retries_left", .count, "Those that may begin by retry_budget."),
            .maybe("turns_left", .count, "Attempts that may begin now by rate_limit."),
            .maybe("next_turn_at", .moment),
            .maybe(
                "rules",
                .list(
                    .object([
                        Property("name", .text), Property("on", .list(.text)), Property("action", .text),
                        .maybe(
                            "max_attempts",
                            .count,
                            "Attempts that a retry may bring a request or a job to."
                        ),
                        Property("acted", .count, "Since the daemon started."),
                    ])
                ),
                "What is done about failures, in the order in which it is asked."
            ),
            .maybe("own_kinds", .list(.text), "Failure kinds that only its configuration names."),
            Property(
                "jobs",
                .object(JobState.allCases.map { Property($0.name, .count) }),
                "The number of kept ones in each state."
            ),
            .maybe("oldest_job_at", .moment),
            .maybe(
                "next_attempt_at",
                .moment,
                "Of a route with jobs that are tried again, when the first is due."
            ),
        ]

    private static let upstreamMembers: [Property] = [
        Property("name", .text), Property("breaker", .word(RouteStanding.Breaker.allCases.map(\.rawValue))),
        .maybe(
            "counts",
            .object([
                Property("attempts", .count), Property("failed", .count), Property("failed_in_a_row", .count),
                Property("span_ms", .count),
            ]),
            "What the breaker remembers."
        ),
        .maybe("since", .moment, "When the breaker opened."),
        .maybe("until", .moment, "When it is probed, or the operator's word ends."),
        .maybe(
            "failing",
            .list(
                .object([
                    Property("requests", .text), .maybe("uid", .count), Property("attempts", .count),
                    Property("failed", .count),
                ])
            ),
            "Requests that the breaker stops while it is open: method, path (two segments after a version, `*` for an "
                + "identifier), and user; at most eight, most failures first."
        ),
        .maybe("held_until", .moment, "As the upstream has asked for all requests."),
        .maybe(
            "holds",
            .list(.object([Property("requests", .text), Property("until", .moment)])),
            "As the upstream has asked for some requests, or for those of a limit of its own."
        ),
        .maybe("rate", .count, "Attempts a second that it is sent at most."),
        .maybe("rate_of", .text, "The requests that are sent no faster; without it all are."),
        Property("under_way", .count), .maybe("window", .count, "How many attempts may be under way."),
        .maybe(
            "last_failure",
            .named("LastFailure"),
            "Of an attempt that went to it, since the daemon started."
        ),
    ]
}
