package import RelayBase

/// Why a route sends nothing; survives a restart.
package struct RoutePause: Hashable, Sendable {
    /// Safe to show: what the operator gave, or what the rule says.
    package var reason: String
    /// Milliseconds since 1970 UTC.
    package var began: Int64
    /// Milliseconds since 1970 UTC at which it ends by itself; nil waits for an operator.
    package var until: Int64?
    /// The rule that paused the route; nil when an operator did.
    package var rule: String?
    /// The operator who paused the route; nil of a rule, and when the kernel has no name for them.
    package var by: Principal?

    package init(
        reason: String,
        began: Int64,
        until: Int64? = nil,
        rule: String? = nil,
        by: Principal? = nil
    ) {
        self.reason = reason
        self.began = began
        self.until = until
        self.rule = rule
        self.by = by
    }
}

extension RoutePause {
    /// The operator or the rule that paused the route, for people.
    package var who: String { rule.map { "rule \($0)" } ?? by?.description ?? "an operator" }
}
