import RelayBase
import RelayCore
import RelayEngine
import RelayJobs

// Jobs that are kept: nothing burned, the true reason, an end; and what is left when all is over.
extension TrafficChecker {
    /// A job is on disk, or a run of it is settled.
    func settled(_ id: JobID, _ state: JobState) {
        guard let job = job(id, isDelivery: true), job.isKept else { return }
        (job.goesOn, job.moving) = (false, 0)
        guard state.isTerminal else { return }
        tell("job \(job.number) is over: \(state.name)")
        note("kept: \(state.name)")
        job.isOver = true
    }

    /// Looks at the store's jobs; `blocker` is the reason that keeps a job from its delivery, as it is explained.
    func audit(_ stored: [StoredJob], wall: Int64, blocker: (StoredJob) -> Blocker?) {
        for entry in stored {
            guard let job = job(entry.record.id, isDelivery: true), job.isKept else {
                fail(nil, "a job is in the store that nobody has handed over")
                continue
            }
            if entry.state == .running { continue }
            if let inherited = job.inherited, job.landed == job.sent, job.cancelledAt == nil {
                if entry.attempts != inherited + job.sent + job.moved {
                    fail(
                        job,
                        "\(entry.attempts) attempts are on record, and \(inherited + job.sent) were sent"
                    )
                }
                if entry.spentAttempts < job.spent {
                    fail(job, "\(entry.spentAttempts) attempts count, and \(job.spent) were spent")
                }
            }
            if entry.state == .dead, entry.end == nil { fail(job, "is given up without a reason") }
            if !entry.state.isTerminal, let blocker = blocker(entry) {
                explain(job, blocker, isDue: entry.runAt <= wall)
            }
        }
    }

    private func explain(_ job: TrafficJob, _ blocker: Blocker, isDue: Bool) {
        note("explained: \(blocker.reason)")
        let terms = present
        switch blocker.reason {
        case "breaker_open" where isDue:
            let isAny = sides.contains { $0.openSince != nil || $0.order(at: now) == true }
            if !isAny { fail(job, "explained by a breaker that is not open") }
        case "throttled" where isDue:
            let isAny = sides.contains { side in
                side.anyPatience(terms.longest ?? 0) > now
                    || side.tooFast.contains { $0 > now - 61_000_000_000 }
            }
            if !isAny { fail(job, "explained by a patience that nobody has asked for: \(blocker.detail)") }
        case "rate_limited" where isDue:
            if terms.rate == nil { fail(job, "explained by a rate that the route does not have") }
        case "due" where isDue, "concurrency" where isDue:
            guard sides.count == 1, !terms.isOff else { return }
            if sides[0].order(at: now) == true {
                fail(job, "not explained by the operator who holds it back")
            }
            if let longest = terms.longest, sides[0].sure(longest, of: nil, now) > now {
                fail(job, "not explained by the patience that was asked for")
            }
            if terms.breaker != nil, sides[0].order(at: now) == nil, sides[0].openSince != nil,
                now < sides[0].failedAt + min(sides[0].pause * 8 / 10, sides[0].longestPause)
            {
                fail(job, "not explained by the breaker that is open")
            }
        default: break
        }
    }

    /// Whether requests and kept jobs wait for a turn of the route's rate, and for nothing else.
    func bothWait(_ terms: TrafficTerms) -> Bool {
        guard terms.number == present.number, let rate = terms.rate, hasPermits() else { return false }
        let isCalm = sides.allSatisfy { side in
            side.openSince == nil && side.order(at: now) == nil && side.anyPatience(.max / 4) <= now
                && side.tooFast.allSatisfy { $0 < now - 61_000_000_000 }
                && side.underWay.count < min(side.width ?? .max, terms.limit) / 2
        }
        guard isCalm, rate.interval > 0 else { return false }
        let waiting = jobs.filter {
            !$0.isOver && $0.sent == 0 && !$0.hasPast && $0.cancelledAt == nil && $0.began < now
        }
        // One that waits for its retry wants no turn yet, and one that was led elsewhere may be held there by more.
        return waiting.contains(where: \.isKept)
            && waiting.contains {
                !$0.isKept && !$0.retries && $0.moving == 0 && $0.terms.number == terms.number
            }
    }

    /// Nothing is under way, and nobody waits: nothing may be left of anything.
    func quiet(_ standing: RouteStanding, inFlight: Int, pending: Int) {
        if standing.retries != 0 { fail(nil, "\(standing.retries) retries are left under way at the end") }
        for upstream in standing.upstreams where upstream.underWay != 0 {
            fail(nil, "\(upstream.underWay) attempts are left under way at the end")
        }
        if inFlight != 0 || pending != 0 { fail(nil, "\(inFlight) permits are left taken at the end") }
        for job in jobs where !job.isOver { fail(job, "waits for ever") }
        noTurnsLeft(standing)
        checkCallers()
    }

    /// Nobody waits for a turn, so none may be taken ahead of time but for those of the last attempts.
    func noTurnsLeft(_ standing: RouteStanding) {
        guard let next = standing.nextSlot?.nanoseconds, let rate = present.rate else { return }
        if next > now + 2 * rate.interval + 1 { fail(nil, "turns are left taken that nobody waits for") }
    }
}
