import RelayBase
package import RelayCore
package import RelayJobs

/// The orders of operators and the configuration that are in force for a route, and not what requests do: an action that
/// names another revision was meant for something else.
package struct RouteRevision: Sendable {
    /// Changes with the configuration, the pause and the breakers that operators keep, with the end of their word.
    package let text: String
    /// The orders in words.
    package let orders: String

    package init(_ digest: String, _ pause: RoutePause?, _ standing: RouteStanding?) {
        var (text, orders) = (String(digest.suffix(12)), pause.map { "paused: \($0.reason)" } ?? "not paused")
        if let pause { text += "-" + String(pause.began, radix: 36) }
        for (index, upstream) in (standing?.upstreams ?? []).enumerated()
        where upstream.breaker == .forcedOpen || upstream.breaker == .forcedClosed {
            let end = upstream.until.map { String($0.nanoseconds, radix: 36) } ?? ""
            text += "-\(upstream.breaker == .forcedOpen ? "o" : "c")\(index).\(end)"
            orders += ", its upstream \(upstream.name) \(upstream.breaker.rawValue)"
        }
        (self.text, self.orders) = (text, orders)
    }

    /// - Throws: `route_not_found`.
    package init(_ name: String, _ engine: Engine, _ pauses: RoutePauses) throws(Problem) {
        let snapshot = engine.snapshot
        let entry = try snapshot.entry(name)
        let standing = entry.memory.traffic.standing(of: entry.route, engine.time.now())
        self.init(snapshot.settings.digest, pauses.pause(of: name), standing)
    }
}
