package import RelayBase
package import RelayCore
import RelayInterface
package import RelayRoute

/// One loaded configuration as requests see it; a request keeps the one it began with.
package final class Snapshot: Sendable {
    package let routes: [String: Entry]
    /// In the order of the configuration.
    package let routeNames: [String]
    package let vault: CredentialVault
    package let settings: Settings
    /// Of routes that earlier configurations had, as long as anything of theirs is under way.
    private let left: [String: Left]

    private struct Left: Sendable {
        weak let state: RouteState?
    }

    /// A route as this configuration has it, and what is shared about it whatever the configuration.
    package final class Entry: Sendable {
        package let route: Route
        package let state: RouteState
        package let memory: RouteMemory
        /// The reason that makes every request that somebody waits for an ordinary one; nil without one.
        package let ordinaryReason: OrdinaryReason?

        init(route: Route, state: RouteState, memory: RouteMemory, _ settings: Settings) {
            self.route = route
            self.state = state
            self.memory = memory
            ordinaryReason = PassThroughPolicy.reason(route) ?? (settings.isBounding ? .limits : nil)
        }
    }

    package struct Settings: Sendable {
        /// Bytes of a request body.
        package var maxRequestBody = 16 * 1_048_576
        /// Bytes of a request body that are held so that it can be sent again; a larger one streams.
        package var replayBuffer = 262_144
        /// Requests under way over all routes, of which one more is refused; nil bounds nothing.
        package var maxRequests: Int?
        /// The bounds on what one caller may take.
        package var callers = CallerLimits()
        /// Fields whose values a document about a job does not show, in lower case.
        package var redactedHeaders: Set<String> = []
        package var file = ""
        /// SHA-256 of the file, in hex.
        package var digest = ""
        package var loadedAt: Int64 = 0
        /// Those of `RouteMeter`: one more than there are loops.
        package var shards = 1

        package init() {}

        /// Whether there is anything that a request would have to be measured by before it is let in.
        var isBounding: Bool { maxRequests != nil || callers.maxRequests != nil || callers.rate != nil }
    }

    /// Lets go of what only saves work or stands in for answers.
    package func dropCaches() { for entry in routes.values { entry.memory.forgetAnswers() } }

    /// - Throws: `route_not_found`.
    package func entry(_ route: String) throws(Problem) -> Entry {
        guard let entry = routes[route] else { throw missing(route) }
        return entry
    }

    package func missing(_ route: String) -> Problem {
        Problem(
            .routeNotFound,
            "the configuration has no route \"\(route.prefix(64))\"",
            didYouMean: nearestWord(to: route, among: routeNames)
        )
    }

    /// The state that is shared about a route, also about one that only an earlier configuration had.
    func state(of route: String) -> RouteState? { routes[route]?.state ?? left[route]?.state }

    /// Routes that `previous`, the configuration replaced, has too keep their permits and figures; so does one that
    /// comes back while requests of its earlier life hold permits.
    package init(routes: [Route], vault: CredentialVault, settings: Settings, previous: Snapshot? = nil) {
        var entries: [String: Entry] = [:]
        for route in routes {
            let limit = route.policy.concurrency
            let kept = previous?.routes[route.name]
            let known = kept?.state ?? previous?.left[route.name]?.state
            // Answers made under other rules, or by another upstream, may not be what this route would answer; how the
            // same upstreams take what they are sent is known whatever the rules.
            let hasSameUpstreams = kept?.route.policy.upstreams == route.policy.upstreams
            let traffic = hasSameUpstreams ? kept?.memory.traffic ?? RouteTraffic() : RouteTraffic()
            let state = known ?? RouteState(limit, traffic, shards: settings.shards)
            let memory =
                if let kept, kept.route.answersLike(route) {
                    kept.memory
                } else {
                    RouteMemory(
                        traffic: traffic,
                        meter: state.meter,
                        upstreams: route.policy.upstreams.map { state.meter.upstream($0.name) }
                    )
                }
            traffic.configured(route)
            known?.resize(limit, traffic)
            entries[route.name] = Entry(route: route, state: state, memory: memory, settings)
        }
        self.routes = entries
        var left = previous?.left.filter { entries[$0.key] == nil && $0.value.state != nil } ?? [:]
        for (name, entry) in previous?.routes ?? [:] where entries[name] == nil {
            left[name] = Left(state: entry.state)
        }
        self.left = left
        routeNames = routes.map(\.name)
        self.vault = vault
        self.settings = settings
    }
}

extension Snapshot {
    /// How the fetched credentials are doing, each with the routes whose upstreams refuse it although it is fresh.
    package func credentialStates(now: Instant) -> [(state: CredentialVault.State, refusedBy: [String])] {
        vault.states(now: now).map { found in
            var state = found
            let refusedBy = routeNames.filter { name in
                guard let entry = routes[name] else { return false }
                return entry.route.policy.authentication?.credential == state.name
                    && entry.memory.refusesToken(state.generation)
            }
            if state.condition == .valid, !refusedBy.isEmpty { state.condition = .refused }
            return (state, refusedBy)
        }
    }
}
