import RelayCore
import Synchronization

// One run of a claimed job: from its claim to the settlement on disk.
extension DurableJobs {
    func run(
        _ claim: Claim,
        _ run: RunningJobs.Run,
        _ lane: DispatchLane,
        _ place: RouteState,
        _ relay: Relay,
        isProbe: Bool
    ) async {
        // Read with its claim, and in memory until its run is over.
        let held = relay.ports.memory.flatMap { memory -> MemoryHold? in
            guard case .bytes(let bytes) = claim.body, bytes.count > MemoryAccount.free else { return nil }
            return memory.overdraw(bytes.count)
        }
        defer { withExtendedLifetime(held) {} }
        let log = RunLog(claim, store: store, engine: engine, feed: feed)
        var result = await attempt(claim, run, log, relay)
        // A large answer waits for the disk in memory, and nothing comes in its place meanwhile.
        let isLarge = (result.settlement.answer?.body.length ?? 0) > DurableJobs.smallAnswer
        if !isLarge { place.leave() }
        let (random, now) = (relay.ports.entropy.next(), relay.ports.time.now())
        let isGateMoved = lane.ask {
            $0.ran(result.credential, isProbe: isProbe, random: random, now)
        }
        if isGateMoved { lane.wake() }
        if let reason = result.pauseReason {
            await paused(lane.route, by: result.attempts.last?.rule, reason)
        }
        lane.ask { $0.settling(relay.ports.time.now()) }
        let answer = await settle(&result.settlement, lane, relay)
        result.settlement.answer = nil
        result.room = nil
        if isLarge { place.leave() }
        running.remove(claim.token.id, run)
        if lane.ask({ $0.settled(relay.ports.time.now()) }) { lane.wake() }
        if let answer { await settled(claim, result, answer.state, answer.end, place, relay) }
        waiters.changed(claim.token.id)
    }

    /// Bytes of an answer that may wait for the disk without a place of the route.
    private static let smallAnswer: UInt64 = 65_536

    /// What one run came to; its answer is in the settlement alone, which may let it go.
    struct Result: Sendable {
        var settlement: Settlement
        var attempts: [Attempt] = []
        var failure: Failure?
        var source: AnswerSource?
        /// Why the route is to be paused.
        var pauseReason: String?
        /// Nil when the run did not get as far as the upstream.
        var context: JobContext?
        var credential = DispatchMachine.Credential.unknown
        /// The memory of the answer.
        var room: MemoryHold?
    }

    private func attempt(
        _ claim: Claim,
        _ run: RunningJobs.Run,
        _ log: RunLog,
        _ relay: Relay
    ) async -> Result {
        func ending(_ ending: Settlement.Ending) -> Result {
            Result(settlement: Settlement(claim.token, ending))
        }
        if run.isCancelAsked { return ending(.cancelled) }
        let snapshot = engine.snapshot
        guard phase == .serving, let entry = snapshot.routes[claim.job.record.route] else {
            return ending(.back(after: .zero, nil))
        }
        // Only the bodies of jobs that are over are dropped.
        guard let body = claim.body.body(from: store) else { return ending(.dead(.corrupt)) }
        let context: JobContext
        do throws(StoreError) {
            var history = try await history(of: claim.job)
            history.log = log
            context = JobContext(claim.job, entry, history: history)
        } catch {
            return ending(error.code == .corrupt ? .dead(.corrupt) : .back(after: .seconds(1), nil))
        }
        let record = claim.job.record
        // The route may have been paused, or the relay stopped, while the store was asked.
        guard phase == .serving, pause(of: record.route) == nil else {
            return ending(.back(after: .zero, nil))
        }
        let delivery = await relay.deliver(
            HTTPRequest(method: record.method, target: record.target, fields: record.fields, body: body),
            context: context,
            vault: snapshot.vault
        )
        var settlement = await settlement(of: delivery, claim, run, entry.route, relay.ports.time)
        settlement.attempts.removeFirst(log.recorded)
        var result = Result(settlement: settlement, attempts: delivery.attempts)
        result.failure = delivery.failure
        result.source = delivery.source
        if case .routePaused(let reason, _, _) = delivery.ending { result.pauseReason = reason }
        result.context = context
        result.credential = delivery.credential
        result.room = delivery.room
        return result
    }

    /// What the job has behind it, as far as it counts.
    private func history(of job: StoredJob) async throws(StoreError) -> JobHistory {
        var history = JobHistory()
        history.attempts = job.attempts
        history.spentAttempts = job.spentAttempts
        history.isInDoubt = job.isInDoubt
        history.deadline = job.expiresAt.map { instant(ofWall: $0) }
        var last = job.earlierAttempts
        while last < job.attempts {
            let page = try await store.attempts(of: job.record.id, after: last, limit: 256)
            for attempt in page {
                if let rule = attempt.rule { history.ruleUses[rule, default: 0] += 1 }
                history.wasInterrupted = attempt.failureKind == .interrupted
                last = max(last, attempt.number)
            }
            if page.count < 256 { break }
        }
        return history
    }
}

// The settlement on disk, and who is told of it.
extension DurableJobs {
    /// Settles, and again with growing waits while there is no room, or the answer has no place beside the record.
    ///
    /// - Returns: where the job stands now, and why when it is over; nil when that is not this run's to say.
    private func settle(
        _ settlement: inout Settlement,
        _ lane: DispatchLane,
        _ relay: Relay
    ) async -> (state: JobState, end: EndReason?)? {
        var wait: Duration = .milliseconds(100)
        while true {
            do throws(StoreError) {
                let answers = try await store.settle([settlement], at: moment)
                guard case .applied(let state, let end)? = answers.first else { return nil }
                return (state, end)
            } catch {
                switch error.code {
                case .full, .directory, .slow: break
                case .corrupt, .newerSchema, .locked, .failed, .closed: return nil
                }
                lane.ask { $0.settlementFailed() }
                // That the job is over matters more than what it was answered.
                if wait > .milliseconds(100) { settlement.answer?.body = .expunged }
            }
            // In a task of its own: that the job was cancelled must not cut its settlement short.
            let (time, pause) = (relay.ports.time, wait)
            let isAborted = phase == .aborted
            if isAborted, wait > .seconds(1) { return nil }
            await relay.ports.start { try? await time.sleep(until: time.now().advanced(by: pause)) }.value
            wait = min(wait * 2, .seconds(5))
        }
    }

    private func settled(
        _ claim: Claim,
        _ result: Result,
        _ state: JobState,
        _ end: EndReason?,
        _ place: RouteState,
        _ relay: Relay
    ) async {
        let job = claim.job
        let now = engine.time.wallMilliseconds()
        for attempt in result.attempts {
            if let event = FeedEvent(attempt, of: job) { feed.publish(event, at: now) }
        }
        let failure = result.failure
        if state == .held, result.settlement.ending == .held(.routePaused) {
            await releaseIfResumed(job)
        }
        if var event = FeedEvent(job, state) {
            event.failureKind = failure?.kind
            event.detail = failure?.detail
            event.end = end
            event.attempt = job.attempts + result.attempts.count
            event.status = result.attempts.last?.status
            feed.publish(event, at: now)
        }
        guard state.isTerminal else {
            if let failure = result.attempts.last?.failure {
                place.putOff(failure, wallSeconds: now / 1000)
            }
            return
        }
        room.withLock { $0.ended() }
        guard let context = result.context ?? fallbackContext(job) else { return }
        let report = DurableEnd(
            context,
            state,
            reason: end,
            failure: state == .succeeded ? nil : failure,
            attempts: result.attempts,
            attemptCount: job.attempts + result.attempts.count
        )
        place.ended(report, result.source, wallSeconds: now / 1000)
        relay.ports.sink.record(.durableEnded(report))
    }

    /// For a job that ended before its run had looked at the route.
    private func fallbackContext(_ job: StoredJob) -> JobContext? {
        engine.snapshot.routes[job.record.route].map { JobContext(job, $0, history: nil) }
    }
}
