extension Word {
    /// The events of the feed, without their prefix `waystation.`.
    static let events: KeyValuePairs<String, String> = [
        "job.accepted": "A job is on disk.",
        "job.attempt.started": "An attempt of a kept job is on disk and about to be sent.",
        "job.attempt.failed": "An attempt failed, of a kept job or of a request that waits.",
        "job.recovered": "A request that waits succeeded after a failure.",
        "job.succeeded": "A kept job is over: the upstream did what was asked.",
        "job.dead": "A kept job is over without success; end says why.",
        "job.cancelled": "A kept job is over because somebody cancelled it or a newer one took its place.",
        "job.expired": "A kept job is over because its time ran out.",
        "job.held": "A kept job was put aside.",
        "request.refused": "A request was refused as it is; code says why.",
        "route.paused": "A route sends nothing until it is resumed; detail is the reason.",
        "route.resumed": "A paused route goes on.",
        "route.breaker":
            "The breaker of an upstream has opened, stays open after a probe, or has closed; state tells which.",
        "route.breaker.ordered":
            "An operator had a breaker kept open or closed, or left to itself; previous is how it was.",
        "route.limits.cleared": "An operator lifted what held requests back; detail says of which.",
        "route.credentials.refreshed": "A credential was fetched anew; detail names it.",
        "route.credentials.failed": "A credential could not be obtained; detail names it.",
        "config.reloaded": "A new configuration is in force.",
        "config.rejected": "A new configuration was refused, and the old one kept; detail has the mistakes.",
        "storage.stalled": "The disk of the job store takes no writes.",
        "storage.resumed": "The disk of the job store takes writes again.",
        "gap": "The reader was too slow, or came too late: events are gone for it.",
        "heartbeat": "Nothing has happened for 15 seconds.",
    ]

    /// The types of events that a reader may ask for: those that tell of the feed itself come unasked.
    package static var eventTypes: [String] {
        events.map(\.key).filter { $0 != "gap" && $0 != "heartbeat" }
    }

    static func remedy(ofEvent name: String) -> String {
        name.hasPrefix("job.")
            ? "See the job: waystation explain JOB"
            : name.hasPrefix("route.") ? "See the route: waystation routes ROUTE" : "See waystation status."
    }
}
