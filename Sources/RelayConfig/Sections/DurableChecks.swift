import RelayBase
import RelayJSON
import RelayRoute

// The meaning of a route's rules for jobs that are kept on disk.
extension RouteCheck {
    /// The most attempts that any job of the route may have.
    var attemptLimit: Int {
        guard let limit = policy.delivery.maxAttempts else { return policy.maxAttempts }
        return isDurable ? limit : max(limit, policy.maxAttempts)
    }

    /// Whether a rule can always act on every failure, so that none gets past it.
    ///
    /// No answer stands in for that to a job which is kept.
    func endsEverything(_ rule: JSONNode) -> Bool {
        !rule.reports && rule.matchesAny
            && (rule["respond"] == nil ? rule.isFinal : !rule.isStale && !isDurable)
    }

    /// Reports a durable route whose rules give a job up as soon as its upstream is down.
    func checkReach(_ list: JSONNode, _ reading: inout ReadContext) {
        let refused = Failure(.connectionRefused, sent: .neverSent, "")
        guard isDurable,
            !list.elements.contains(where: { rule in
                !rule.reports && rule["respond"] == nil && rule["refresh_credentials"] == nil
                    && rule.matches(refused)
            })
        else { return }
        reading.warn(
            "no rule acts when the upstream cannot be reached, so that a kept job is dead at once",
            at: list.location(),
            hint: rules.taking ?? "add a rule with \"retry\" on \"connection\""
        )
    }

    /// Reports what a rule of a durable route will not do.
    func checkDurable(_ rule: JSONNode, _ index: Int, _ reading: inout ReadContext) {
        if rule.keeps {
            reading.error(
                "the route keeps every request before it is sent, so that there is none to answer and to keep then",
                at: rules.location(index, "respond", "and"),
                hint: rules.taking ?? "remove the rule, or write \"delivery\": {\"mode\": \"sync\"}"
            )
        } else if rule["respond"] != nil {
            reading.warn(
                "it answers only requests that wait for their answer, and the route keeps every one",
                at: rules.location(index, "respond"),
                hint: rules.taking ?? "remove the rule, or leave out \"mode\": \"durable\""
            )
        }
        let (waits, end) = (draft(of: rule)?.retry?.schedule?.reduce(.zero, +), policy.delivery.expiresAfter)
        guard let waits, waits > end else { return }
        let text = DurationText.text
        reading.warn(
            "the waits of the schedule take \(text(waits)), but delivery.expires_after ends a job after \(text(end))",
            at: rules.location(index, "retry", "schedule"),
            hint: rules.taking ?? "raise \"delivery.expires_after\", or shorten the schedule"
        )
    }
}
