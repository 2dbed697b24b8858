import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

extension Operation {
    static let listRoutes = Operation(
        id: "listRoutes",
        tag: .routes,
        summary: "Every route",
        detail: "Those of the configuration in its order, then those that only have jobs.",
        replies: [
            Reply(
                "The routes.",
                .named("RouteList"),
                [("routes", .object([.init("routes", .array([routeExample]))]))]
            )
        ],
        problems: Problem.Code.ofStore
    )

    static let route = Operation(
        id: "getRoute",
        tag: .routes,
        summary: "One route",
        replies: [told],
        problems: Problem.Code.ofStore + [.routeNotFound]
    )

    static let pauseRoute = Operation(
        id: "pauseRoute",
        tag: .routes,
        summary: "Pause a route",
        detail: "A pause survives a restart.",
        content: RequestContent(
            type: MediaType.json,
            schema: .named("PauseOrder"),
            isRequired: false,
            examples: [("maintenance", .example(#"{"reason": "maintenance", "for": "2h"}"#))]
        ),
        replies: [told],
        problems: Problem.Code.ofStore + [.routeNotFound, .unsupportedMediaType]
    )

    static let resumeRoute = Operation(
        id: "resumeRoute",
        tag: .routes,
        summary: "Let a route go on",
        detail: "The jobs that its pause put aside go on with it. There is no content.",
        replies: [told],
        problems: Problem.Code.ofStore + [.routeNotFound]
    )

    static let setBreaker = Operation(
        id: "setBreaker",
        tag: .routes,
        summary: "Keep a breaker open or closed, or leave it to itself",
        detail: "It does not outlive a restart.",
        content: RequestContent(
            type: MediaType.json,
            schema: .named("BreakerOrder"),
            examples: [("open", .example(#"{"state": "open", "upstream": "eu", "for": "30m"}"#))]
        ),
        replies: [told],
        problems: Problem.Code.ofStore + [.routeNotFound, .unsupportedMediaType]
    )

    static let clearLimits = Operation(
        id: "clearLimits",
        tag: .routes,
        summary: "Lift what holds the requests of a route back",
        detail:
            "What upstreams have asked for, the rates and windows that were learnt, and which requests fail: all of it "
            + "begins anew. Pauses and circuit breakers stay; a second call changes nothing more.",
        content: RequestContent(
            type: MediaType.json,
            schema: .named("ClearOrder"),
            isRequired: false,
            examples: [("one", .example(#"{"upstream": "eu", "requests": "GET /reports"}"#))]
        ),
        replies: [told],
        problems: Problem.Code.ofStore + [.routeNotFound, .unsupportedMediaType]
    )

    static let shape = Operation(
        id: "getShape",
        tag: .routes,
        summary: "How many jobs wait, and for how long already",
        replies: [
            Reply(
                "A table.",
                .named("Shape"),
                [
                    (
                        "shape",
                        .example(
                            """
                            {"by": "route", "bucket_ms": [60000, 120000], "total": {"total": 3, "counts": [2, 1, 0]},
                             "rows": [{"key": "billing", "total": 3, "counts": [2, 1, 0]}]}
                            """
                        )
                    )
                ]
            )
        ],
        problems: Problem.Code.ofStore + [.routeNotFound]
    )

    static let history = Operation(
        id: "getHistory",
        tag: .routes,
        summary: "The last hour of the routes, minute by minute",
        detail: "Durations are estimates from buckets; null where there was nothing.",
        replies: [
            Reply(
                "The hour, oldest minute first.",
                .named("History"),
                [
                    (
                        "history",
                        .example(
                            """
                            {"interval_ms": 60000, "began_at": "2027-01-31T08:00:00.000Z", "columns": 2,
                             "routes": [{"name": "billing", "requests": [40, 12], "failures": [1, 0],
                                         "fallbacks": [0, 0], "attempts": [44, 12], "failed_attempts": [5, 0],
                                         "p50_ms": [12.5, null], "p99_ms": [80.0, null],
                                         "attempt_p50_ms": [11.0, null], "attempt_p99_ms": [62.5, null]}]}
                            """
                        )
                    )
                ]
            )
        ],
        problems: [.routeNotFound]
    )

    private static let told = Reply("The route.", .named("Route"), [("route", routeExample)])

    private static let routeExample = JSONValue.example(
        """
        {"name": "billing", "state": "degraded", "in_flight": 2, "pending": 0, "requests": 40, "succeeded": 38,
         "failed": 1, "cancelled": 0, "recovered": 3, "fallbacks": 1, "never_fails_breaches": 0,
         "consecutive_failures": 1, "lately": {"requests": 20, "failed": 1, "stand_ins": 0},
         "last_failure": {"kind": "http_status", "status": 503, "detail": "the upstream answered 503",
                          "at": "2027-01-31T08:00:00Z"},
         "delivery": "sync", "max_requests": 64, "max_pending_requests": 256,
         "upstreams": [{"name": "eu", "breaker": "closed",
                        "counts": {"attempts": 20, "failed": 2, "failed_in_a_row": 0, "span_ms": 30000},
                        "under_way": 2, "window": 64,
                        "last_failure": {"kind": "http_status", "status": 503, "detail": "the upstream answered 503",
                                         "at": "2027-01-31T08:00:00Z"}}],
         "retries_under_way": 0, "retries_left": 10,
         "rules": [{"name": "transient", "on": ["connection", "502"], "action": "retry", "max_attempts": 3,
                    "acted": 3}],
         "jobs": {"scheduled": 0, "queued": 4, "running": 1, "retrying": 1, "held": 0, "succeeded": 30, "dead": 0,
                  "cancelled": 0, "expired": 0},
         "oldest_job_at": "2027-01-31T07:58:12.204Z", "next_attempt_at": "2027-01-31T08:57:00.000Z"}
        """
    )
}
