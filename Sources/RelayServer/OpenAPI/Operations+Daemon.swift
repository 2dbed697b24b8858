import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

extension Operation {
    static let version = Operation(
        id: "getVersion",
        tag: .daemon,
        summary: "The version of the daemon and of this interface",
        replies: [
            Reply(
                "The versions.",
                .named("Version"),
                [
                    (
                        "version",
                        .example(
                            #"{"name": "waystationd", "version": "0.1.0", "api_versions": ["v1"], "role": "admin"}"#
                        )
                    )
                ]
            )
        ]
    )

    static let live = Operation(
        id: "getLive",
        tag: .daemon,
        summary: "Whether the daemon answers at all",
        replies: [Reply("It does.", .named("Live"), [("live", .example(#"{"status": "live"}"#))])]
    )

    static let ready = Operation(
        id: "getReady",
        tag: .daemon,
        summary: "Whether requests are served",
        replies: [Reply("They are.", .named("Ready"), [("ready", .example(#"{"status": "ready"}"#))])],
        problems: [.draining, .storageStalled]
    )

    static let status = Operation(
        id: "getStatus",
        tag: .daemon,
        summary: "The daemon at this moment",
        replies: [Reply("What it does and how it is doing.", .named("Status"), [("status", statusExample)])]
    )

    static let metrics = Operation(
        id: "getMetrics",
        tag: .daemon,
        summary: "The metrics, as Prometheus reads them",
        detail: "OpenMetrics where Accept prefers it. waystationd-metrics(7) explains each.",
        replies: [
            Reply(
                200,
                "The metrics.",
                content: [MetricsText.Format.prometheus, .openMetrics].map { format in
                    Reply.Content(
                        type: "\(format.type)",
                        schema: .text,
                        examples: [("paused", .string("waystation_route_paused{route=\"billing\"} 1\n"))]
                    )
                }
            )
        ]
    )

    static let reload = Operation(
        id: "reload",
        tag: .daemon,
        summary: "Read the configuration again",
        detail: "One that is not valid leaves the old one in force.",
        replies: [
            Reply(
                "It is in force.",
                .named("Reload"),
                [
                    (
                        "reloaded",
                        .example(
                            """
                            {"result": "reloaded", "changed": true, "digest": "sha256:9f86d0818844", "added": ["orders"],
                             "removed": [], "modified": ["billing"], "needs_restart": []}
                            """
                        )
                    )
                ]
            )
        ],
        problems: [.configRejected]
    )

    static let constrained = Operation(
        id: "getConstrained",
        tag: .daemon,
        summary: "Whether the network counts as constrained",
        replies: [Reply("Whether, and why.", .named("Constrained"), [("off", constrainedExample)])]
    )

    static let setConstrained = Operation(
        id: "setConstrained",
        tag: .daemon,
        summary: "Say whether the network counts as constrained",
        detail: "The configuration has to give operators a say.",
        content: RequestContent(
            type: MediaType.json,
            schema: .named("ConstrainedOrder"),
            examples: [("on", .example(#"{"state": "on"}"#))]
        ),
        replies: [
            Reply("Whether, and why, from now on.", .named("Constrained"), [("off", constrainedExample)])
        ],
        problems: [.unsupportedMediaType]
    )

    static let contract = Operation(
        id: "getContract",
        tag: .daemon,
        summary: "This document",
        replies: [
            Reply(
                "The interface as OpenAPI 3.1.",
                Schema.object([
                    Property("openapi", .text), Property("info", .map(.anything)),
                    Property("paths", .map(.anything)), .maybe("servers", .list(.map(.anything))),
                    .maybe("tags", .list(.map(.anything))), .maybe("components", .map(.anything)),
                ]),
                [
                    (
                        "contract",
                        .example(
                            #"{"openapi": "3.1.0", "info": {"title": "waystationd", "version": "v1"}, "paths": {}}"#
                        )
                    )
                ]
            )
        ]
    )

    private static let constrainedExample = JSONValue.example(
        """
        {"constrained": false, "state": "auto", "reason": "no source says so",
         "sources": [{"file_exists": "/run/network/metered", "met": false}, {"control": true, "met": false}]}
        """
    )

    private static let statusExample = JSONValue.example(
        """
        {"version": "0.1.0", "api_versions": ["v1"], "pid": 812, "started_at": "2027-01-31T08:00:00Z",
         "uptime_seconds": 3600, "state": "serving", "draining": false,
         "config": {"file": "/etc/waystation/waystation.json", "digest": "sha256:9f86d0818844",
                    "loaded_at": "2027-01-31T08:00:00Z"},
         "in_flight": 2, "connections": 3, "connections_refused": 0,
         "callers": [{"user": 1001, "connections": 2, "requests": 2, "bytes": 0,
                      "refused": {"limits.per_user.rate": 4}}],
         "constrained": false, "callers_known": true,
         "jobs": {"queued": 5, "held": 1, "dead": 0, "running": 1},
         "storage": {"state": "ok", "used_bytes": 4096, "max_bytes": 1073741824,
                     "disk_bytes": 107374182400, "disk_available_bytes": 64424509440, "corrupt_records": 0},
         "journal": {"blocked_seconds": 0, "lost_records": 0},
         "memory": {"used_bytes": 0, "limit_bytes": 67108864, "waiting": 0},
         "shedding": {"level": 0, "refused": 0}, "spool": {"used_bytes": 0, "limit_bytes": 1073741824},
         "routes": [{"name": "billing", "state": "ok", "in_flight": 2, "pending": 0, "requests": 40,
                     "succeeded": 39, "failed": 1, "cancelled": 0, "recovered": 3, "fallbacks": 0,
                     "never_fails_breaches": 0, "consecutive_failures": 0,
                     "lately": {"requests": 12, "failed": 0, "stand_ins": 0}, "last_failure": null,
                     "queued": 5, "held": 1, "dead": 0}],
         "credentials": [{"name": "billing-token", "state": "valid", "expires_in_seconds": 1800}]}
        """
    )
}
