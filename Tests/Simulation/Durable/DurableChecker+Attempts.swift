import RelayBase
import RelayJobs
import RelayRoute
import RelayTestSupport
import RelayTesting

// The attempts that an upstream sees.
extension DurableChecker {
    func began(
        _ job: DurableFacts,
        _ stored: StoredJob?,
        _ others: [StoredJob],
        life: Int,
        wall: Int64,
        isQuestion: Bool
    ) {
        let route = routes[job.route]
        look(at: wall)
        if job.flight?.isOpen == true { fail(job, "a job is sent while it is under way") }
        if stored?.state != .running { fail(job, "a job is sent that is \(stored?.state.name ?? "gone")") }
        let isOnRecord = stored?.begun != nil && stored?.attempts == job.onRecord + job.unsettled.count
        if !isOnRecord { fail(job, "a job is sent and its record does not tell of the attempt") }
        if job.isHeld { fail(job, "a job is sent while it is held") }
        // A run that has begun may still fetch its credential, and goes on to its first wait once it has sent; after a crash
        // it waits before its question.
        let settling = isQuestion ? route.policy.verification?.settleAfter.saturatedNanoseconds ?? 0 : 0
        let grace = settling + (route.credential == nil ? 0 : 1_000_000_000)
        if route.pausedUntil != nil, now - route.pausedSince >= grace, job.sentInRun == 0 {
            fail(job, "a job is sent while its route is paused")
        }
        if !isDue(job, wall) { fail(job, "a job is sent before it is due") }
        if now - DurableChecker.rounding >= lastMoment(of: job) {
            fail(job, "a job is sent after it has expired")
        }
        if route.flights >= route.mostPlaces(now: now) {
            fail(job, "there are more at once than the route has places")
        }
        order(job, others)
        route.flights += 1
        job.sentInRun += 1
        if isQuestion {
            if job.method == .get { fail(job, "a job is asked about that changes nothing") }
            return
        }
        if job.spent + job.unsettled.count(where: { $0 == .failed || $0 == .answered || $0 == .unknown })
            >= route.maxAttempts
        {
            fail(job, "a job is sent more often than the route allows")
        }
        repeating(job, route, life)
        (job.isFound, job.isAbsent) = (false, false)
    }

    func isDue(_ job: DurableFacts, _ wall: Int64) -> Bool {
        guard let date = job.date else { return now + DurableChecker.rounding >= job.notBefore }
        // It stays due once its date has come, by whatever the clock said then; the store counts from when it was asked.
        let storedAt = min(job.storedAt, job.notBefore)
        return offsets.indices.contains { index in
            let end = index + 1 < offsets.count ? offsets[index + 1].from : now
            return end >= storedAt
                && Timeline.wall(at: end) + offsets[index].milliseconds + 2 >= date
        }
    }

    private func repeating(_ job: DurableFacts, _ route: DurableRoute, _ life: Int) {
        let isSafe = job.method.isIdempotent || job.isKeyed || route.methods == .any || job.isAbsent
        if job.isAbsent, !job.acts.isEmpty, job.replays == 0 {
            fail(job, "a job is sent again that was carried out")
        }
        let isCrash = job.lastLife != life && !job.isSettled
        let again = "a job that may not be repeated is sent again after"
        switch job.last {
        case .none, .never, .asked: break
        case .success:
            if !isCrash { fail(job, "a job is sent after it has succeeded") }
            if !isSafe { fail(job, "\(again) a crash") }
        case .failed: if isCrash, !isSafe { fail(job, "\(again) a crash") }
        case .answered, .unknown:
            let end = job.last == .answered ? "an answer that does not refuse it" : "an unknown outcome"
            let mayRetry = job.isAbsent || route.mayRetry(job.method, isKeyed: job.isKeyed)
            if isCrash ? !isSafe : !mayRetry { fail(job, "\(again) \(end)") }
        case .stopped, .crashed:
            note("sent again after a \(job.last.rawValue) attempt")
            if !isSafe { fail(job, "\(again) a crash or a stop") }
        }
        if job.last != .none { note("sent again after \(job.last.rawValue)") }
    }

    private func order(_ job: DurableFacts, _ others: [StoredJob]) {
        guard job.orderingKey != nil else { return }
        for other in others where !other.state.isTerminal && other.record.id != job.id {
            guard let earlier = byID[other.record.id], earlier.route == job.route,
                earlier.orderingKey == job.orderingKey
            else { continue }
            if earlier.turn < job.turn { fail(job, "a job is sent out of the order of its key") }
            if earlier.flight?.isOpen == true { fail(job, "two jobs of a key break the order of its key") }
        }
        note("sent in order")
    }

    func landed(_ flight: DurableFlight, _ landing: DurableFacts.Landing) {
        guard flight.isOpen else { return }
        flight.isOpen = false
        flights[ObjectIdentifier(flight)] = nil
        let job = flight.job
        tell(job, "landed: \(landing.rawValue)")
        note("landed \(landing.rawValue)")
        routes[job.route].flights -= 1
        guard !flight.isQuestion else {
            job.unsettled.append(.asked)
            return
        }
        job.last = landing
        act(job, landing)
        if [.answered, .unknown, .stopped, .crashed].contains(landing) { job.mayHaveActed = true }
        job.unsettled.append(landing)
    }

    func crashed(_ life: Int) {
        for flight in flights.values.sorted(by: { $0.job.number < $1.job.number }) where flight.life == life {
            landed(flight, flight.isQuestion ? .asked : .crashed)
            // A question that a crash cuts off spends no attempt, as none does.
            if !flight.isQuestion { flight.job.spent += 1 }
        }
        for job in jobs { job.unsettled = [] }
    }

    /// Whether the upstream carried it out, of which nobody may know.
    private func act(_ job: DurableFacts, _ landing: DurableFacts.Landing) {
        var draw = SplitMix64(seed: UInt64(truncatingIfNeeded: job.number &* 97 &+ job.acts.count))
        switch landing {
        case .success: job.acts.append(now)
        case .answered, .unknown, .stopped, .crashed: if draw.chance(50) { job.acts.append(now) }
        case .none, .never, .failed, .asked: break
        }
    }
}
