import RelayBase
package import RelayInterface
package import RelayJobs
import RelayPosix

extension DatabaseFacts: Document {
    package static let members: [Member<DatabaseFacts>] = [
        .required("node", .text, "The name of this daemon among the others.") { $0.node },
        .optional("lease_age_seconds", .count, "Since its lease was last renewed.") {
            $0.renewedAt.map(seconds(since:))
        },
        .required("connections") { $0.connections },
        .required("connects", .count, "Connections made since the start.") { $0.connects },
        .required("round_trips", .count, "Replies that were waited for since the start.") { $0.roundTrips },
        .required("notification_queue_percent", .count, "How full the database's queue of notifications is.")
        {
            $0.notificationQueue / 10_000
        },
        .part(
            "oldest_snapshot",
            of: [
                .required("pid", .integer) { $0.process },
                .required("application", .text) { $0.application },
                .required("seconds", .count, "For how long it has been seen.") { seconds(since: $0.since) },
            ],
            "The session for which the database gives no room back, once it has lasted.",
            maybe: true
        ) { $0.holder },
    ]

    private static func seconds(since instant: Instant) -> Int64 {
        max(0, instant.duration(to: Instant(nanoseconds: SystemClock.monotonic())).components.seconds)
    }
}
