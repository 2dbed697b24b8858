import RelayBase
import RelayConfig
import RelayHTTP

extension Meaning {
    /// Keys of the configuration whose path ends so, as waystation.json(5) has them.
    static func keys(_ name: String) -> [Meaning] {
        ConfigurationKey.named(name).map { key in
            let value = "It takes \(key.what)" + (key.isRequired ? ", and has to be there." : ".")
            return Meaning(
                .key,
                key.path,
                "\(key.doc) \(value)" + (key.defaultText.map { " Default: \($0)." } ?? ""),
                remedy: "Change it in the configuration, then waystation check and waystation reload."
            )
        }
    }

    /// Groups of kinds, which the configuration names in `on`.
    static let groups: [Meaning] =
        FailureGroup.allCases.map { group in
            let kinds = FailureKind.known.filter(group.contains).map(\.rawValue).joined(separator: ", ")
            return Meaning(
                .group,
                group.rawValue,
                "A rule on it acts on \(kinds).",
                remedy: "Explain the kind of the attempt: waystation explain KIND"
            )
        } + [
            Meaning(
                .group,
                "any",
                "A rule on it acts on every failure but those that no rule is asked about.",
                remedy: "Put it below the rules that know better, since rules are read from the top."
            ),
            Meaning(
                .group,
                "exhausted",
                "A rule on it acts when the rules above it, the attempts or the time are spent.",
                remedy: "Use it for what is to be done at last, such as a failover or a stand-in."
            ),
        ]

    /// The events that `waystation events` tells.
    static let events: [Meaning] = [
        event("job.accepted", "A job is on disk."),
        event("job.attempt.started", "An attempt of a kept job is on disk and about to be sent."),
        event("job.attempt.failed", "An attempt failed, of a kept job or of a request that waits."),
        event("job.recovered", "A request that waits succeeded after a failure."),
        event("job.succeeded", "A kept job is over: the upstream did what was asked."),
        event("job.dead", "A kept job is over without success; end says why."),
        event(
            "job.cancelled",
            "A kept job is over because somebody cancelled it or a newer one took its place."
        ),
        event("job.expired", "A kept job is over because its time ran out."),
        event("job.held", "A kept job was put aside."),
        event("request.refused", "A request was refused as it is; code says why."),
        event("route.paused", "A route sends nothing until it is resumed; detail is the reason."),
        event("route.resumed", "A paused route goes on."),
        event(
            "route.breaker",
            "The breaker of an upstream has opened, stays open after a probe, or has closed; state tells which."
        ),
        event(
            "route.breaker.ordered",
            "An operator had a breaker kept open or closed, or left to itself; previous is how it was."
        ),
        event("route.limits.cleared", "An operator lifted what held requests back; detail says of which."),
        event("route.credentials.refreshed", "A credential was fetched anew; detail names it."),
        event("route.credentials.failed", "A credential could not be obtained; detail names it."),
        event("config.reloaded", "A new configuration is in force."),
        event(
            "config.rejected",
            "A new configuration was refused, and the old one kept; detail has the mistakes."
        ),
        event("storage.stalled", "The disk of the job store takes no writes."),
        event("storage.resumed", "The disk of the job store takes writes again."),
        event("gap", "The reader was too slow, or came too late: events are gone for it."),
        event("heartbeat", "Nothing has happened for 15 seconds."),
    ]

    /// The types that a reader may ask for: what tells of the feed itself comes unasked.
    static var eventTypes: [String] {
        events.map(\.word).filter { $0 != "gap" && $0 != "heartbeat" }
    }

    private static func event(_ word: String, _ text: String) -> Meaning {
        let remedy =
            word.hasPrefix("job.")
            ? "See the job: waystation explain JOB"
            : word.hasPrefix("route.") ? "See the route: waystation routes ROUTE" : "See waystation status."
        return Meaning(.event, word, text, remedy: remedy)
    }

    /// The faults that the parser of messages finds.
    static let faults: [Meaning] = HTTPParseError.Code.allCases.map { code in
        let parts = code.explanation.split(separator: ";", maxSplits: 1).map { part in
            let text = part.drop { $0 == " " }
            return text.prefix(1).uppercased() + text.dropFirst() + "."
        }
        return Meaning(
            .fault,
            code.rawValue,
            status: Int(code.status.rawValue),
            parts[0],
            causes:
                "A caller's request, answered with the status; or an upstream's answer, which is http_protocol_error.",
            remedy: parts.count > 1 ? parts[1] : "Mend whoever sent the message."
        )
    }
}
