import RelayCore
import Synchronization

// Claiming: when, and how many.
extension DurableJobs {
    /// A claim in a store that several processes share would be lost after this.
    private static let lease: Duration = .seconds(600)

    /// Does what the lane's machine says until it says that nothing will be claimed any more.
    func pump(_ lane: DispatchLane, _ relay: Relay) async {
        let time = relay.ports.time
        while true {
            switch lane.step(time.now(), places: places(of: lane)) {
            case .end: return
            case .sleep(let deadline): await lane.sleep(until: deadline, time)
            case .claim(let count): await claim(count, lane, relay)
            }
        }
    }

    private func places(of lane: DispatchLane) -> Int {
        engine.snapshot.routes[lane.route]?.route.policy.concurrency.maxRequests ?? 1
    }

    /// Waits for a place in fair turn with other requests, takes what else is free, and claims as many jobs.
    private func claim(_ count: Int, _ lane: DispatchLane, _ relay: Relay) async {
        let time = relay.ports.time
        guard let state = engine.snapshot.routes[lane.route]?.state else { return lane.end() }
        guard await state.enter(mayExceed: true) else { return }
        // While it waited, the lane may have been paused or ended.
        guard case .claim(let count) = lane.step(time.now(), places: places(of: lane)) else {
            return state.leave()
        }
        claiming.add(1, ordering: .sequentiallyConsistent)
        defer { claiming.subtract(1, ordering: .sequentiallyConsistent) }
        // Whoever ends the serving counts afterwards: it sees this claim, or this claim sees the end.
        guard phase == .serving, let route = engine.snapshot.routes[lane.route]?.route else {
            return state.leave()
        }
        let places = 1 + state.takeFree(count - 1)
        lane.ask { $0.claiming() }
        var claims: [Claim] = []
        do throws(StoreError) {
            let batch = try await store.claim(
                lane.route,
                limit: places,
                lease: DurableJobs.lease,
                upstream: relay.ports.firstUpstream(of: route).name,
                at: moment
            )
            let next = batch.nextDue.map { instant(ofWall: $0) }
            let isProbe = lane.ask {
                $0.claimed(batch.claims.count, of: places, nextDue: next, time.now())
            }
            claims = batch.claims
            for claim in claims { begin(claim, lane, state, isProbe: isProbe) }
        } catch {
            // What the store cannot survive ends the process; anything else may have passed in a moment.
            if error.code == .closed { lane.end() } else { lane.ask { $0.claimFailed(time.now()) } }
        }
        for _ in claims.count..<places { state.leave() }
    }

    private func begin(_ claim: Claim, _ lane: DispatchLane, _ place: RouteState, isProbe: Bool) {
        let run = running.add(claim.token.id)
        guard let relay = nextRelay() else { preconditionFailure("a job was claimed before the start") }
        waiters.changed(claim.token.id)
        run.keep(
            relay.ports.start { [self] in
                await self.run(claim, run, lane, place, relay, isProbe: isProbe)
            }
        )
    }

    func instant(ofWall milliseconds: Int64) -> Instant {
        let wait = milliseconds.subtractingSaturating(engine.time.wallMilliseconds())
        return engine.time.now().advanced(by: .milliseconds(wait))
    }
}
