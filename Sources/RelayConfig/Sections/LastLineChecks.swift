import RelayJSON

/// The rules that hold for a route: its own, or those it takes over from the defaults.
struct RuleList {
    var list: JSONNode?
    /// Where the list stands.
    var path: [String]
    /// The route's name when the rules are those of the defaults.
    var taker: String?

    var elements: [JSONNode] { list?.elements ?? [] }
}

extension ConfigurationTable {
    static func matchesAny(_ rule: JSONNode) -> Bool {
        rule["on"]?.value.elements.contains { $0.text == "any" } ?? false
    }

    /// Whether a rule responds with what was kept: it passes on where nothing is.
    static func isStale(_ rule: JSONNode) -> Bool { rule["respond"]?.value["as"]?.value.text == "stale" }

    /// Actions that end a request that waits for its answer with its failure.
    private static let failingActions = ["fail"] + durableActions

    /// Actions that mean something else to durable jobs than to requests that wait for their answer.
    static let durableActions = ["dead_letter", "pause_route", "hold"]

    /// A route that never fails answers every failure itself, and nothing above that answer ends with one.
    static func checkLastLine(_ node: JSONNode, _ rules: RuleList, _ reading: inout ReadContext) {
        let lastLine = rules.elements.firstIndex { rule in
            matchesAny(rule) && rule["respond"] != nil && !isStale(rule)
        }
        if lastLine == nil {
            reading.error(
                "a failure can reach the caller: no rule answers all of them",
                at: node.location("never_fails"),
                hint: "end \"recovery\" with {\"name\": \"last-line\", \"on\": [\"any\"], \"respond\": "
                    + "{\"as\": \"placeholder\", \"status\": 200}}"
            )
        }
        reading.elsewhere(rules.path) { reading in
            guard let list = rules.list else { return }
            for (index, rule) in rules.elements[..<(lastLine ?? rules.elements.count)].enumerated() {
                guard let action = failingActions.first(where: { rule[$0] != nil }) else { continue }
                reading.error(
                    "the route says \"never_fails\", and this rule fails",
                    at: list.location("\(index)", action),
                    hint: rules.taker.map { "route \"\($0)\" takes this rule over" }
                        ?? "remove the rule, or respond"
                )
            }
        }
    }

    /// Answers are kept for a rule that gives them.
    static func checkKeptAnswers(_ node: JSONNode, _ rules: RuleList, _ reading: inout ReadContext) {
        guard node["response"]?.value["cache_last_good"] != nil, !rules.elements.contains(where: isStale)
        else { return }
        reading.warn(
            "no rule of the route responds with what is kept",
            at: node.location("response", "cache_last_good"),
            hint: "add {\"name\": \"last-good\", \"on\": [\"any\"], \"respond\": {\"as\": \"stale\"}}"
        )
    }
}
