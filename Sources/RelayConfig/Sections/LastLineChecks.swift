import RelayJSON

extension RouteCheck {
    /// A route that never fails answers every failure itself, and nothing above that answer ends with one.
    func checkLastLine(_ reading: inout ReadContext) {
        let lastLine = rules.elements.firstIndex { $0.matchesAny && $0.isAnswer }
        if lastLine == nil {
            reading.error(
                "a failure can reach the caller: no rule answers all of them",
                at: node.location("never_fails"),
                hint: "end \"recovery\" with {\"name\": \"last-line\", \"on\": [\"any\"], \"respond\": "
                    + "{\"as\": \"placeholder\", \"status\": 200}}"
            )
        }
        for (index, rule) in rules.elements[..<(lastLine ?? rules.elements.count)].enumerated() {
            guard let action = rule.failingAction else { continue }
            reading.error(
                "the route says \"never_fails\", and this rule fails",
                at: rules.location(index, action),
                hint: rules.taking ?? "remove the rule, or respond"
            )
        }
    }

    /// Answers are kept for a rule that gives them.
    func checkKeptAnswers(_ reading: inout ReadContext) {
        guard node["response"]?.value["cache_last_good"] != nil, !rules.elements.contains(where: \.isStale)
        else { return }
        reading.warn(
            "no rule of the route responds with what is kept",
            at: node.location("response", "cache_last_good"),
            hint: "add {\"name\": \"last-good\", \"on\": [\"any\"], \"respond\": {\"as\": \"stale\"}}"
        )
    }
}
