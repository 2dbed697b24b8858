import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var hedge: Section<Hedging> {
        Section(
            "hedge",
            "When a request that is late is sent a second time. The first success is its answer, or else the failure that came "
                + "last; the other sending is given up and counts for nothing (cancelled). Only of a request that somebody "
                + "waits for, that is safe to repeat by its method or key and has its content in memory. The second takes a permit, a "
                + "turn of rate_limit, one of max_attempts and a part of retry_budget: up to half of its share, none of its "
                + "min_retry_concurrency. It waits for none of them, nor is it sent while the breaker is open or the upstream has asked for patience.",
            of: Hedging()
        ) {
            Field("percentile", .number(50...99.9), \.percentile) {
                "The share of the last 200 answers to requests of its class that were sooner, in percent, from which on it is "
                    + "late. A class is told apart by method, kind of path and size, 64 of them; until 20 answers are known nothing is late."
            }
            Field("least", .duration(.milliseconds(1) ... .seconds(600)), \.least) {
                "No request is late before that."
            }
            Field("upstream", .string(), \.upstream) {
                "The upstream of the second, where that may be sent anything now; where the first went without the key."
            }
        }
    }
}

extension RouteCheck {
    /// A second sending is possible, bounded, and goes to an upstream of the route.
    func checkHedging(_ reading: inout ReadContext) {
        guard let hedging = policy.hedging else { return }
        func error(_ text: String, _ hint: String) {
            reading.error(text, at: node.location("hedge"), hint: hint)
        }
        if isDurable {
            error("nobody waits for the milliseconds of jobs that are kept", "remove it")
        }
        if policy.following != nil {
            error("a second sending would begin a second operation (follow)", "remove it, or \"follow\"")
        }
        if policy.maxAttempts < 2 {
            error(
                "a request of this route is sent once (max_attempts)",
                "raise \"max_attempts\", or remove it"
            )
        }
        if !policy.traffic.budget.isEnabled || policy.traffic.budget.percent == 0 {
            error(
                "second sendings have no bound, or no room, without a retry_budget",
                "give it a \"budget_percent\", or remove it"
            )
        }
        if hedging.least >= policy.timeouts.attempt {
            reading.warn(
                "nothing is ever late: an attempt's time is over after \(DurationText.text(policy.timeouts.attempt))",
                at: node.location("hedge", "least"),
                hint: "raise \"timeouts.attempt\", or lower it"
            )
        }
        guard let name = hedging.upstream else { return }
        let upstreams = node["upstreams"]?.value.elements ?? []
        let names = upstreams.compactMap { $0["name"]?.value.text }
        let use = upstreams.first { $0["name"]?.value.text == name }?["use"]?.value.text
        if !names.contains(name) {
            reading.error(
                "the route has no upstream named \"\(printable(name))\"",
                at: node.location("hedge", "upstream"),
                hint: nearestWord(to: name, among: names).map { "did you mean \"\($0)\"?" }
                    ?? "name one of its upstreams"
            )
        } else if use == Upstream.Use.whenConstrained.rawValue {
            reading.error(
                "the upstream \"\(printable(name))\" is used when_constrained",
                at: node.location("hedge", "upstream"),
                hint: "name another of its upstreams"
            )
        }
    }
}
