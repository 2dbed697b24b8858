import RelayBase
import RelayJSON
import RelayRoute

// The rules of a route that look as if they would send again, and will not.
extension ConfigurationTable {
    /// After these nobody knows whether the upstream acted.
    private static let cuts = [FailureKind.connectionTerminated, .httpResponseTimeout].map {
        Failure($0, sent: .unknown, "")
    }
    /// After these it has answered, and may have acted.
    private static let faults = [500, 502, 504].map {
        Failure(.httpStatus, sent: .answered, "", status: Status(rawValue: $0))
    }

    static func checkRepeats(
        _ route: RouteDraft,
        _ node: JSONNode,
        _ rules: RuleList,
        _ reading: inout ReadContext
    ) {
        checkRefreshing(route, node, &reading)
        checkWaits(route, node, rules, &reading)
        guard !saysWhoGivesKeys(route, node, reading) else { return }
        let hint =
            "write \"idempotency\": {\"generate\": true} if the upstream knows such keys, false if callers send them"
        if route.policy.delivery.mode == .durable {
            guard route.recovery == nil || cuts.contains(where: { sparing(for: $0, route, rules) != nil })
            else {
                return
            }
            reading.warn(
                "a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or late",
                at: node.location("delivery", "mode"),
                hint: hint
            )
        } else if node["request"]?.value["wrap"] != nil {
            // A route that wraps is for content, and so for POST.
            guard let found = (cuts + faults).lazy.compactMap({ sparing(for: $0, route, rules) }).first
            else { return }
            reading.elsewhere(rules.path) { reading in
                reading.warn(
                    "a POST without a key is not sent again by this rule once the upstream may have acted on it",
                    at: (rules.list ?? node).location("\(found.index)", found.action),
                    hint: "\(hint); \"methods\" here says which requests may be repeated"
                )
            }
        }
    }

    /// The rule that sends again after such a failure, where it leaves `methods` at what spares a POST without a key.
    private static func sparing(
        for failure: Failure,
        _ route: RouteDraft,
        _ rules: RuleList
    ) -> (index: Int, action: String)? {
        for (index, rule) in rules.elements.enumerated() {
            let words = rule["on"]?.value.elements.compactMap(\.text) ?? []
            guard FailureMatcher(words.compactMap(FailureMatcher.token)).matches(failure, isExhausted: false)
            else { continue }
            if let action = ["retry", "failover"].first(where: { rule[$0] != nil }) {
                return rule[action]?.value["methods"] == nil ? (index, action) : nil
            }
            let isAnswer = rule["respond"] != nil && !isStale(rule) && route.policy.delivery.mode == .sync
            if isAnswer || isFinal(rule) { return nil }
        }
        return nil
    }

    /// Whether each request has a key, or the file says whether the relay gives one.
    private static func saysWhoGivesKeys(
        _ route: RouteDraft,
        _ node: JSONNode,
        _ reading: ReadContext
    ) -> Bool {
        let keys = ["idempotency-key", "webhook-id", route.policy.idempotency.header.lowercased()]
        let isPrepared = route.policy.prepare.contains { step in
            step.phase == .job && step.fields.contains { keys.contains($0.name.lowercased()) }
        }
        let places = [node["idempotency"], reading.root["defaults"]?.value["idempotency"]]
        return route.policy.signing != nil || isPrepared || places.contains { $0?.value["generate"] != nil }
    }

    /// A token that was revoked stays in use until it expires.
    private static func checkRefreshing(_ route: RouteDraft, _ node: JSONNode, _ reading: inout ReadContext) {
        let rules = route.recovery ?? []
        guard let auth = route.auth, auth.isRefreshable, !auth.refreshesOn401,
            !rules.contains(where: {
                $0.refreshes != nil || $0.on.tokens.contains(.status(401)) && $0.endsAJob
            })
        else { return }
        reading.warn(
            "nothing fetches the credential anew when the upstream refuses it",
            at: node.location("auth", "refresh_on_401"),
            hint:
                "remove it, or add a rule with \"refresh_credentials\" or one that ends a request on \"401\""
        )
    }

    /// A wait that no request's time allows; a route that says how jobs are kept may mean it for those.
    private static func checkWaits(
        _ route: RouteDraft,
        _ node: JSONNode,
        _ rules: RuleList,
        _ reading: inout ReadContext
    ) {
        guard route.policy.delivery.mode == .sync, node["delivery"] == nil, let list = rules.list,
            !rules.elements.contains(where: keeps)
        else { return }
        let total = route.policy.timeouts.total
        for (index, element) in list.elements.enumerated() {
            guard let name = element["name"]?.value.text,
                let retry = route.recovery?.first(where: { $0.name == name })?.retry
            else { continue }
            let place: [String]
            if let late = retry.schedule?.firstIndex(where: { $0 >= total }) {
                place = ["schedule", "\(late)"]
            } else if let backoff = retry.backoff, backoff.baseInterval >= total {
                place = ["backoff", "base_interval"]
            } else {
                continue
            }
            reading.elsewhere(rules.path) { reading in
                reading.warn(
                    "a request ends after \(DurationText.text(total)) (timeouts.total), so that it never waits this long",
                    at: list.location(["\(index)", "retry"] + place),
                    hint: rules.taker.map { "route \"\($0)\" takes this rule over" }
                        ?? "shorten the wait, or raise \"timeouts.total\""
                )
            }
        }
    }
}

extension RuleDraft {
    /// Whether it ends a request that waits, or a job, or puts that aside.
    fileprivate var endsAJob: Bool { respond != nil || ending != nil }
}
