import RelayBase
import RelayJSON
import RelayRoute

// The rules of a route that look as if they would send again, and will not.
extension RouteCheck {
    /// After these nobody knows whether the upstream acted.
    private static let cuts = [FailureKind.connectionTerminated, .httpResponseTimeout].map {
        Failure($0, sent: .unknown, "")
    }
    /// After these it has answered, and may have acted.
    private static let faults = [500, 502, 504].map {
        Failure(.httpStatus, sent: .answered, "", status: Status(rawValue: $0))
    }

    func checkRepeats(_ reading: inout ReadContext) {
        checkRefreshing(&reading)
        checkWaits(&reading)
        guard !saysWhoGivesKeys(reading) else { return }
        let hint =
            "write \"idempotency\": {\"generate\": true} if the upstream knows such keys, false if callers send them"
        if isDurable {
            guard route.recovery == nil || RouteCheck.cuts.contains(where: { sparing(for: $0) != nil })
            else { return }
            reading.warn(
                "a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or late",
                at: node.location("delivery", "mode"),
                hint: hint
            )
        } else if node["request"]?.value["wrap"] != nil {
            // A route that wraps is for content, and so for POST.
            guard let found = (RouteCheck.cuts + RouteCheck.faults).lazy.compactMap(sparing).first
            else { return }
            reading.warn(
                "a POST without a key is not sent again by this rule once the upstream may have acted on it",
                at: rules.location(found.index, found.action),
                hint: "\(hint); \"methods\" here says which requests may be repeated"
            )
        }
    }

    /// The rule that sends again after such a failure, where it leaves `methods` at what spares a POST without a key.
    private func sparing(for failure: Failure) -> (index: Int, action: String)? {
        for (index, rule) in rules.elements.enumerated() where !rule.reports && rule.matches(failure) {
            if let action = ["retry", "failover"].first(where: { rule[$0] != nil }) {
                return rule[action]?.value["methods"] == nil ? (index, action) : nil
            }
            if rule.isAnswer && !isDurable || rule.isFinal { return nil }
        }
        return nil
    }

    /// Whether each request has a key, or the file says whether the relay gives one.
    private func saysWhoGivesKeys(_ reading: ReadContext) -> Bool {
        let isPrepared = policy.prepare.contains { step in
            step.phase == .job && step.fields.contains { keyNames.contains($0.name.lowercased()) }
        }
        let places = [node["idempotency"], reading.root["defaults"]?.value["idempotency"]]
        return policy.signing != nil || isPrepared || places.contains { $0?.value["generate"] != nil }
    }

    /// A token that was revoked stays in use until it expires.
    private func checkRefreshing(_ reading: inout ReadContext) {
        guard let auth = route.auth, auth.isRefreshable, !auth.refreshesOn401,
            !(route.recovery ?? []).contains(where: {
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
    private func checkWaits(_ reading: inout ReadContext) {
        guard !isDurable, node["delivery"] == nil, !rules.elements.contains(where: \.keeps) else { return }
        let total = policy.timeouts.total
        for (index, rule) in rules.elements.enumerated() {
            let location: JSONNode.Location
            if let late = draft(of: rule)?.retry?.schedule?.firstIndex(where: { $0 >= total }) {
                location = rules.location(index, "retry", "schedule", "\(late)")
            } else if let backoff = draft(of: rule)?.retry?.backoff, backoff.baseInterval >= total {
                location = rules.location(index, "retry", "backoff", "base_interval")
            } else {
                continue
            }
            reading.warn(
                "a request ends after \(DurationText.text(total)) (timeouts.total), so that it never waits this long",
                at: location,
                hint: rules.taking ?? "shorten the wait, or raise \"timeouts.total\""
            )
        }
    }
}

extension RuleDraft {
    /// Whether it ends a request that waits, or a job, or puts that aside.
    fileprivate var endsAJob: Bool { respond != nil || ending != nil }
}
