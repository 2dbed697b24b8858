import RelayBase
import RelayJSON
import RelayRoute

// The meaning of a route's rules for jobs that are kept on disk.
extension ConfigurationTable {
    /// The most attempts that any job of the route may have.
    static func attemptLimit(_ route: RouteDraft) -> Int {
        guard let limit = route.policy.delivery.maxAttempts else { return route.policy.maxAttempts }
        return route.policy.delivery.mode == .durable ? limit : max(limit, route.policy.maxAttempts)
    }

    /// Whether a rule can always act on every failure, so that none gets past it.
    ///
    /// No answer stands in for that to a job which is kept.
    static func endsEverything(_ rule: JSONNode, _ route: RouteDraft) -> Bool {
        guard matchesAny(rule) else { return false }
        if rule["respond"] != nil { return !isStale(rule) && route.policy.delivery.mode == .sync }
        return isFinal(rule)
    }

    /// Whether a rule ends every failure it matches, of whatever request.
    static func isFinal(_ rule: JSONNode?) -> Bool {
        guard let rule else { return false }
        return rule["fail"] != nil || durableActions.contains { rule[$0] != nil }
    }

    /// Whether `rule` still acts below the one that ends everything: for jobs that it does not answer.
    static func isPassed(_ ending: JSONNode, by rule: JSONNode) -> Bool {
        if isFinal(ending) { return false }
        return keeps(ending) ? rule["respond"] == nil : durableActions.contains { rule[$0] != nil }
    }

    /// Whether a rule answers a request and keeps it.
    static func keeps(_ rule: JSONNode) -> Bool { rule["respond"]?.value["and"]?.value.text == "keep" }

    /// Reports a durable route whose rules give a job up as soon as its upstream is down.
    static func checkReach(
        _ route: RouteDraft,
        _ list: JSONNode,
        taking: String?,
        _ reading: inout ReadContext
    ) {
        guard route.policy.delivery.mode == .durable else { return }
        let refused = Failure(.connectionRefused, sent: .neverSent, "")
        let acts = list.elements.contains { rule in
            let words = rule["on"]?.value.elements.compactMap(\.text) ?? []
            return rule["respond"] == nil && rule["refresh_credentials"] == nil
                && FailureMatcher(words.compactMap(FailureMatcher.token)).matches(refused, isExhausted: false)
        }
        guard !acts else { return }
        reading.warn(
            "no rule acts when the upstream cannot be reached, so that a kept job is dead at once",
            at: list.location(),
            hint: taking ?? "add a rule with \"retry\" on \"connection\""
        )
    }

    /// Reports what a rule of a durable route will not do.
    static func checkDurable(
        _ route: RouteDraft,
        _ rule: JSONNode,
        _ list: JSONNode,
        _ index: Int,
        taking: String?,
        _ reading: inout ReadContext
    ) {
        guard route.policy.delivery.mode == .durable else { return }
        if keeps(rule) {
            reading.error(
                "the route keeps every request before it is sent, so that there is none to answer and to keep then",
                at: list.location("\(index)", "respond", "and"),
                hint: taking ?? "remove the rule, or write \"delivery\": {\"mode\": \"sync\"}"
            )
        } else if rule["respond"] != nil {
            reading.warn(
                "it answers only requests that wait for their answer, and the route keeps every one",
                at: list.location("\(index)", "respond"),
                hint: taking ?? "remove the rule, or leave out \"mode\": \"durable\""
            )
        }
        guard let name = rule["name"]?.value.text,
            let schedule = route.recovery?.first(where: { $0.name == name })?.retry?.schedule
        else { return }
        let total = schedule.reduce(.zero, +)
        guard total > route.policy.delivery.expiresAfter else { return }
        let (waits, end) = (DurationText.text(total), DurationText.text(route.policy.delivery.expiresAfter))
        reading.warn(
            "the waits of the schedule take \(waits), but delivery.expires_after ends a job after \(end)",
            at: list.location("\(index)", "retry", "schedule"),
            hint: taking ?? "raise \"delivery.expires_after\", or shorten the schedule"
        )
    }
}
