import RelayTestSupport
import RelayTesting

/// Rules of the route of a night, drawn.
struct NightRules {
    private var attempts: Int
    private var wait: Int
    private var type: String
    private let jitter: String
    private let isProtected: Bool

    /// Rules that give up soon.
    init(old draw: inout SplitMix64, isProtected: Bool) {
        (attempts, wait) = (draw.number(2...4), draw.number(200...2_000))
        (type, jitter) = (draw.pick(["constant", "exponential"]), draw.pick(["none", "full"]))
        self.isProtected = isProtected
    }

    /// Rules that have more patience, or that are as hasty in another way.
    init(new draw: inout SplitMix64, isProtected: Bool) {
        self.init(old: &draw, isProtected: isProtected)
        guard draw.chance(60) else { return }
        (attempts, wait, type) = (draw.number(8...14), draw.number(1_000...4_000), "exponential")
    }

    var file: String {
        """
        {"listeners":[{"name":"jobs","unix":"/run/a/jobs.sock","role":"submit"}],
         "routes":{"orders":{"upstreams":[{"name":"eu","url":"https://eu.example/"}],
          "delivery":{"mode":"durable","expires_after":"10m"},"timeouts":{"idle":"3s"},"max_attempts":100,
          "recovery":[{"name":"again","on":["502","503","504","connection","timeout","429"],
           "retry":{"max_attempts":\(attempts),"methods":"any",
            "backoff":{"type":"\(type)","base_interval":"\(wait)ms","jitter":"\(jitter)"}}}]\(
            isProtected ? "" : unbounded)}}}
        """
    }
}
