import RelayCore

// MARK: Pauses of routes

extension DurableJobs {
    /// Sends nothing of the route until it is resumed, or for `duration`; requests that wait for their answer get 503 `route_paused`.
    ///
    /// - Throws: `route_not_found`, `storage_failed`.
    package func pause(
        _ route: String,
        reason: String,
        for duration: Duration?
    ) async throws(Problem) {
        try check(route)
        let began = engine.time.wallMilliseconds()
        let until = duration.map { JobTimeline.advance(began, by: $0) }
        do throws(StoreError) {
            try await turns.inTurn(route) { () async throws(StoreError) in
                try await begin(RoutePause(reason: reason, began: began, until: until), of: route)
            }
        } catch { throw Problem(error, route: route) }
    }

    /// Lets a route go on, with the jobs that its pause put aside.
    package func resume(_ route: String) async throws(Problem) {
        try check(route)
        do throws(StoreError) {
            try await turns.inTurn(route) { () async throws(StoreError) in try await end(route) }
        } catch { throw Problem(error, route: route) }
    }

    private func check(_ route: String) throws(Problem) {
        let snapshot = engine.snapshot
        guard snapshot.routes[route] == nil else { return }
        var problem = Problem(.routeNotFound, "the configuration has no route \"\(route.prefix(64))\"")
        problem.didYouMean = nearestWord(to: route, among: snapshot.routeNames)
        throw problem
    }

    private func begin(_ pause: RoutePause, of route: String) async throws(StoreError) {
        try await store.pause(route, pause, at: moment)
        set(pause, of: route)
        var event = FeedEvent(.routePaused, route: route)
        event.detail = pause.reason
        event.rule = pause.rule
        feed.publish(event, at: engine.time.wallMilliseconds())
        nextRelay()?.ports.sink.record(.routePaused(route: route, pause))
        waiters.allChanged()
    }

    /// A rule has paused the route.
    func paused(_ route: String, by rule: String?, _ reason: String) async {
        guard pause(of: route) == nil else { return }
        let began = engine.time.wallMilliseconds()
        let new = RoutePause(reason: reason, began: began, rule: rule ?? "recovery")
        do throws(StoreError) {
            try await turns.inTurn(route) { () async throws(StoreError) in
                guard self.pause(of: route) == nil else { return }
                try await begin(new, of: route)
            }
        } catch {
            // Unless the store is done for, which ends the process, the pause holds until the next start.
            set(new, of: route)
        }
    }

    /// Ends a pause.
    ///
    /// The pause goes last: a crash before leaves the route paused, and its jobs can still be let go.
    private func end(_ route: String) async throws(StoreError) {
        guard pause(of: route) != nil else { return try await release(route) }
        try await release(route)
        try await store.pause(route, nil, at: moment)
        set(nil, of: route)
        // Those that were put aside in between.
        try await release(route)
        feed.publish(FeedEvent(.routeResumed, route: route), at: engine.time.wallMilliseconds())
        nextRelay()?.ports.sink.record(.routeResumed(route: route))
        waiters.allChanged()
    }

    /// Lets every job go on that the route's pause put aside.
    private func release(_ route: String) async throws(StoreError) {
        var filter = JobFilter()
        filter.route = route
        filter.states = [.held]
        filter.reason = .routePaused
        var cursor: JobCursor?
        repeat {
            cursor = try await store.apply(
                .release,
                to: filter,
                limit: 500,
                after: cursor,
                dryRun: false,
                at: moment
            ).next
        } while cursor != nil
    }

    /// A job was put aside for a pause that has ended in the meantime: it goes on.
    func releaseIfResumed(_ job: StoredJob) async {
        guard pause(of: job.record.route) == nil else { return }
        var filter = JobFilter(ids: [job.record.id])
        filter.reason = .routePaused
        // What keeps the store from it ends the process, or is made good at the next start.
        _ = try? await store.apply(.release, to: filter, limit: 1, after: nil, dryRun: false, at: moment)
    }

    /// Routes that are not paused and have jobs put aside, which may be a pause's that a crash ended.
    func stranded(_ counters: JobCounters) -> [String] {
        counters.counts.keys.filter { $0.state == .held && pause(of: $0.route) == nil }.map(\.route)
    }

    func releaseStranded(_ routes: [String]) async {
        for route in routes { try? await release(route) }
    }

    /// Ends the pauses whose time is up.
    func endPauses() async {
        let now = engine.time.now()
        for (route, pause) in pauses where pause.isOver(now) {
            // What the store could not do now is tried again at the next sweep.
            try? await turns.inTurn(route) { () async throws(StoreError) in
                // An operator may have given it another one.
                if inForce(route)?.pause == pause.pause { try await end(route) }
            }
        }
    }
}
