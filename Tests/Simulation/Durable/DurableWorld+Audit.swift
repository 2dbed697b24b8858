import RelayEngine
import RelayJobs
import RelayTestSupport

// Looks every second whether anything waits that should not, and leaps over the time in which nothing happens.
extension DurableWorld {
    func audit() {
        spawn { here in await here.audit() }
        guard !isOver else { return }
        call(after: 1_000_000_000) { $0.audit() }
    }

    /// Nobody is under way, and nothing is planned before what the jobs wait for.
    fileprivate func leap(_ jobs: [StoredJob], _ daemon: DurableDaemon) {
        guard checker.flights.isEmpty, writes == 0, !isFull, checker.waiters.isEmpty, daemon.life.isServing,
            timeline.now > lastTrouble + 3_000_000_000, !checker.isOwing
        else { return }
        plans.removeAll { $0 < timeline.now }
        var next = plans.min() ?? .max
        func wait(until wall: Int64) {
            let milliseconds = wall.subtractingSaturating(self.wall)
            guard milliseconds < 1 << 42 else { return }
            next = min(next, timeline.now + max(0, milliseconds) * 1_000_000)
        }
        for job in jobs where !job.state.isTerminal {
            if job.state == .running { return }
            if let expiry = job.expiresAt { wait(until: expiry) }
            guard let route = checker.byID[job.record.id].map({ routes[$0.route] }), route.isConfigured,
                job.state != .held, job.reason != .ordering, daemon.jobs.pauses.pause(of: route.name) == nil
            else { continue }
            wait(until: job.runAt)
        }
        for route in routes {
            if let until = daemon.jobs.pauses.pause(of: route.name)?.until { wait(until: until) }
        }
        guard next < .max, next > timeline.now + 8_000_000_000 else { return }
        timeline.leap(to: next - 2_500_000_000)
        lastTrouble = timeline.now - 1_000_000_000
    }

    fileprivate func audits() -> Int {
        audited += 1
        return audited
    }
}

extension Confined where Value == DurableWorld {
    fileprivate func audit() async {
        let world = value
        guard let daemon = world.daemon, let memory = world.memory, !world.isOver else { return }
        world.checker.read(daemon)
        guard let jobs = try? await memory.all() else {
            return world.checker.fail(nil, "the store cannot be read")
        }
        let isCalm =
            daemon.life.isServing && !world.isFull && world.timeline.now > world.lastTrouble + 6_000_000_000
        world.checker.existence(jobs, isCalm: isCalm)
        world.checker.waiting()
        await lookAtNotices(jobs, isCalm: isCalm)
        if isCalm {
            for route in world.routes { world.checker.liveness(route, jobs, daemon, wall: world.wall) }
        } else {
            for route in world.routes { (route.idleSince, route.gateSince) = (nil, nil) }
        }
        if world.isHealed, daemon.life.isServing, world.plans.allSatisfy({ $0 < world.timeline.now }) {
            if jobs.allSatisfy({ $0.state.isTerminal && !$0.owesNotice }) {
                return world.finish(daemon, jobs)
            }
            if world.audits() > 60_000, let job = jobs.first(where: { !$0.state.isTerminal }) {
                world.isOver = true
                world.checker.fail(
                    world.checker.byID[job.record.id],
                    "a job waits for ever: \(job.state.name), \(daemon.jobs.blocker(of: job)?.detail ?? "")"
                )
            }
        }
        world.leap(jobs, daemon)
    }
}

extension DurableWorld {
    /// Every job is over: the process stops, and nothing is left of it.
    fileprivate func finish(_ daemon: DurableDaemon, _ jobs: [StoredJob]) {
        isOver = true
        for job in jobs { checker.note("over as \(job.state.name)") }
        daemon.engine.drain()
        daemon.jobs.drain()
        let alive = Confined(daemon)
        call(after: 10_000_000_000) {
            $0.checker.stopped(alive.value)
            $0.end(alive.value)
        }
    }
}
