import RelayBase
package import RelayJobs
import RelayRoute

extension DurableJobs {
    /// How many kept jobs of a route wait, by the word for what they wait for.
    ///
    /// By their states alone: those that may be sent wait for what holds the route back, whichever of them wait for an
    /// earlier one of their ordering key; while the route is paused, those put aside count as its.
    package func waiting(_ jobs: JobCounters, of route: String) -> [String: Int] {
        var waiting: [String: Int] = [:]
        func count(_ state: JobState, as reason: String) {
            let count = jobs.count(state, of: route)
            if count > 0 { waiting[reason, default: 0] += count }
        }
        guard let entry = engine.snapshot.routes[route] else {
            for state in [JobState.scheduled, .queued, .retrying] {
                count(state, as: WaitReason.routeRemoved.name)
            }
            count(.held, as: (watch.facts.nodes > 0 ? WaitReason.routeRemoved : .operatorHold).name)
            return waiting
        }
        let isPaused = pauses.pause(of: route) != nil
        count(.scheduled, as: WaitReason.notBefore.name)
        count(.retrying, as: WaitReason.backoff.name)
        let waits = entry.route.policy.constrained == .wait && network.isConstrained
        let held: WaitReason = isPaused ? .routePaused : waits ? .networkConstrained : .operatorHold
        count(.held, as: held.name)
        let reason =
            isPaused ? WaitReason.routePaused.name : self.held(entry, engine.time.wallMilliseconds()).reason
        count(.queued, as: reason)
        return waiting
    }
}
