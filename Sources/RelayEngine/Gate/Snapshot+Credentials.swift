package import RelayBase
package import RelayCore
import RelayRoute

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
