import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

extension OpenAPI {
    static let daemonSchemas: [(name: String, schema: Schema)] = [
        (
            "Version",
            .object([
                Property("name", .constant(.string("waystationd"))), Property("version", .text),
                Property("api_versions", .list(.text)),
                Property("role", .word(Role.allCases.map(\.rawValue)), "That of the listener."),
            ])
        ),
        ("Live", .object([Property("status", .constant(.string("live")))])),
        ("Ready", .object([Property("status", .constant(.string("ready")))])),
        ("Status", .object(statusMembers)),
        (
            "Caller",
            .object([
                .maybe("user", .count), .maybe("ports", .yes, "The callers of all ports."),
                Property("connections", .count), Property("requests", .count), Property("bytes", .count),
                .maybe(
                    "refused",
                    .object(CallerBound.allCases.map { .maybe($0.rawValue, .count) }),
                    "How often since it is known, by the bound's key."
                ),
            ])
        ),
        (
            "Reload",
            .object([
                Property("result", .constant(.string("reloaded"))), Property("changed", .boolean),
                Property("digest", .text), Property("added", .list(.text)), Property("removed", .list(.text)),
                Property("modified", .list(.text)),
                Property("needs_restart", .list(.text), "What counts only after a restart."),
            ])
        ),
        (
            "Constrained",
            .object([
                Property("constrained", .boolean),
                Property("state", .word(ConstrainedOrder.allCases.map(\.rawValue)), "The operator's word."),
                Property("reason", .text),
                Property(
                    "sources",
                    .list(
                        .object([
                            .maybe("file_exists", .text), .maybe("control", .yes),
                            Property("met", .boolean),
                            .maybe("error", .text, "Why the file cannot be looked at."),
                        ])
                    )
                ),
            ])
        ),
        (
            "ConstrainedOrder",
            .strict([Property("state", .word(ConstrainedOrder.allCases.map(\.rawValue)))])
        ),
    ]

    private static let statusMembers: [Property] = [
        Property("version", .text), Property("api_versions", .list(.text)), Property("pid", .integer(1...)),
        Property("started_at", .moment), Property("uptime_seconds", .count),
        Property("state", .word(DaemonState.allCases.map(\.rawValue))), Property("draining", .boolean),
        Property(
            "config",
            .object([
                Property("file", .text), Property("digest", .text), Property("loaded_at", .moment),
                .maybe("last_reload_error", .text),
            ])
        ),
        Property("in_flight", .count), Property("connections", .count),
        Property("connections_refused", .count, "For want of a place, since the start."),
        Property("callers", .list(.named("Caller"))), Property("constrained", .boolean),
        Property("callers_known", .boolean, "False where a user namespace gives all the same user."),
        Property(
            "jobs",
            .object([
                Property("queued", .count, "All that are not over."), Property("held", .count),
                Property("dead", .count), Property("running", .count),
            ])
        ),
        Property(
            "storage",
            .object([
                Property("state", .word(StorageState.allCases.map(\.rawValue))),
                Property("used_bytes", .count), Property("max_bytes", .count),
                .maybe("disk_bytes", .count, "Of the file system it is on."),
                .maybe("disk_available_bytes", .count, "What of it may still be written."),
                Property("corrupt_records", .count, "Met since the start."),
            ])
        ),
        Property(
            "journal",
            .object([Property("blocked_seconds", .count), Property("lost_records", .count)])
        ),
        Property(
            "memory",
            .object([
                Property("used_bytes", .count), Property("limit_bytes", .count), Property("waiting", .count),
            ])
        ),
        Property(
            "shedding",
            .object([
                Property("level", .integer(0...3)), .maybe("reason", .text), .maybe("since", .moment),
                Property("refused", .count),
            ])
        ),
        Property("spool", .object([Property("used_bytes", .count), Property("limit_bytes", .count)])),
        Property("routes", .list(.object(statusRoute))),
        Property(
            "credentials",
            .list(
                .object([
                    Property("name", .text),
                    Property("state", .word(CredentialState.allCases.map(\.rawValue))),
                    .maybe("expires_in_seconds", .integer),
                    .maybe("refused_by", .list(.text), "Routes whose upstreams refuse it."),
                ])
            )
        ),
    ]

    private static let statusRoute: [Property] =
        condition(conditions) + [
            .maybe("pause_reason", .text), .maybe("paused_by", .named("Principal")),
            Property("queued", .count), Property("held", .count),
            Property("dead", .count),
        ]
}
