import RelayBase
import RelayEngine
import RelayJobs
import RelayTestSupport

// The promises that hold at every moment, or within a few seconds.
extension DurableChecker {
    private static let second: Int64 = 1_000_000_000

    func existence(_ stored: [StoredJob], isCalm: Bool) {
        var found: [JobID: StoredJob] = [:]
        for job in stored { found[job.record.id] = job }
        for job in jobs where !job.isDropped {
            guard let now = found[job.id] else {
                if job.isAcknowledged { fail(job, "there is no job any more that was acknowledged") }
                continue
            }
            if now.state.isTerminal {
                over(job, now.state)
                let since = job.overSince ?? self.now
                if !job.isEndTold, job.overLife == life, isCalm, since < self.now - 4 * DurableChecker.second
                {
                    fail(job, "a job is over and the feed does not tell")
                }
            } else if now.state != .running, isCalm,
                lastMoment(of: job) < self.now - 6 * DurableChecker.second
            {
                fail(job, "a job has expired and is not over")
            }
            if now.state == .running, job.flight?.isOpen != true {
                if let since = job.runningSince, self.now - since > 150 * DurableChecker.second, isCalm {
                    fail(job, "a job is running and nobody runs it")
                }
            }
            guard now.state == .held, now.reason == .routePaused, isCalm else {
                job.strandedSince = nil
                continue
            }
        }
    }

    /// A caller that waits is answered in time, by the clock or by the job's end.
    func waiting() {
        for (job, since, deadline) in waiters.values.sorted(by: { $0.job.number < $1.job.number }) {
            if now > deadline + 2 * DurableChecker.second {
                fail(job, "somebody waits for a job longer than it asked for")
            }
            if let over = job.overSince, now > max(over, since) + 4 * DurableChecker.second {
                fail(job, "somebody waits for a job that is over")
            }
        }
    }

    func hasWaiter(until deadline: Int64) -> Bool { waiters.values.contains { $0.deadline == deadline } }

    /// A job that is due and free to go is claimed; one that was put aside for a pause goes on after it.
    func liveness(_ route: DurableRoute, _ stored: [StoredJob], _ daemon: DurableDaemon, wall: Int64) {
        let pause = daemon.jobs.pauses.pause(of: route.name)
        guard route.isConfigured, pause == nil else {
            (route.idleSince, route.gateSince) = (nil, nil)
            for job in jobs where job.route == route.number { job.strandedSince = nil }
            return
        }
        let mine = stored.filter { $0.record.route == route.name }
        for job in mine where job.state == .held && job.reason == .routePaused {
            guard let facts = byID[job.record.id] else { continue }
            let since = facts.strandedSince ?? now
            facts.strandedSince = since
            if now - since > 5 * DurableChecker.second {
                fail(facts, "a job stays put aside for a pause that is over")
            }
        }
        let due = mine.first {
            ($0.state == .scheduled
                || ($0.state == .queued || $0.state == .retrying) && $0.reason != .ordering)
                && $0.runAt < wall - 1_000
        }
        guard let due, route.lastClaim < now - DurableChecker.second else {
            (route.idleSince, route.gateSince) = (nil, nil)
            return
        }
        let reason = daemon.jobs.blocker(of: due)?.reason ?? ""
        if reason == WaitReason.credentials.name {
            route.idleSince = nil
            let since = route.gateSince ?? now
            route.gateSince = since
            note("waited for a credential")
            if now - since > 110 * DurableChecker.second {
                fail(byID[due.record.id], "a job waits for a credential and nobody tries it")
            }
            return
        }
        route.gateSince = nil
        guard route.flights < route.places else {
            route.idleSince = nil
            return
        }
        let since = route.idleSince ?? now
        route.idleSince = since
        guard now - since > 25 * DurableChecker.second else { return }
        if reason == WaitReason.concurrency.name {
            fail(byID[due.record.id], "a job waits for places that nobody has")
        } else {
            fail(byID[due.record.id], "a job is due and nobody claims it (\(reason))")
        }
    }

    /// The feed is dense, and tells of every end once.
    func read(_ daemon: DurableDaemon) {
        guard !daemon.life.isDead else { return }
        let reading = daemon.jobs.feed.events(after: daemon.life.read, limit: .max)
        if reading.gap != nil { fail(nil, "the feed has lost events") }
        for event in reading.events {
            daemon.life.read += 1
            if event.number != daemon.life.read { fail(nil, "the feed skips a number") }
            guard let job = event.event.job.flatMap({ byID[$0] }) else { continue }
            switch event.kind {
            case .jobSucceeded, .jobDead, .jobCancelled, .jobExpired:
                job.ends += 1
                job.isEndTold = true
                if job.ends > job.replays + 1 { fail(job, "the feed tells of one end twice") }
            default: break
            }
        }
    }

    /// A process has stopped: nothing of it is left.
    func stopped(_ daemon: DurableDaemon) {
        read(daemon)
        if daemon.jobs.inFlight > 0 { fail(nil, "\(daemon.jobs.inFlight) jobs are running after a stop") }
        if daemon.life.running > 0 { fail(nil, "\(daemon.life.running) tasks are left after a stop") }
        for route in routes {
            guard let load = daemon.engine.snapshot.routes[route.name]?.state.load else { continue }
            if load != (0, 0) {
                fail(
                    nil,
                    "\(load.inFlight) places that nobody has are left after a stop, \(load.pending) wait"
                )
            }
        }
    }

    /// Everything has come to its end.
    func quiet(sleeping: Int, isOver: Bool) {
        if !isOver { fail(nil, "the world stands still with jobs that are not over") }
        if sleeping > 0 { fail(nil, "\(sleeping) waits are left at the end") }
        if !waiters.isEmpty { fail(nil, "\(waiters.count) callers still wait at the end") }
        for job in jobs where job.isAcknowledged && !job.isDropped && job.overSince == nil {
            fail(job, "a job was acknowledged and is not over")
        }
    }
}
