import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs
import RelayTestSupport

// The events that operators, disks, clocks and signals bring.
extension DurableWorld {
    func meddle() {
        guard !isHealed else { return }
        switch draw.weighted([26, 14, 10, 8, 6, 6, 8, 5, 4, 6]) {
        case 0: actOnOne()
        case 1: actOnMany()
        case 2: pauseOrResume()
        case 3:
            let credential = draw.below(illUntil.count)
            checker.tell(nil, "credential \(credential) fails for a while")
            illUntil[credential] = timeline.now + draw.time(1_000...draw.pick([5_000, 60_000, 600_000]))
        case 4: change()
        case 5: remove()
        case 6: crash()
        case 7: stop()
        case 8: fill()
        default:
            // A clock that steps while no process looks cannot be told from time that passes.
            guard daemon?.life.isServing == true else { return }
            step(by: draw.pick([1, -1]) * Int64(draw.pick([2_000, 90_000, 3_600_000, 30 * 3_600_000])))
        }
    }

    /// Runs what an operator asks of the process that runs now.
    private func operate(
        _ work: @escaping @Sendable (Confined<DurableWorld>, DurableDaemon) async throws -> Void
    ) {
        guard let daemon, daemon.life.isServing else { return }
        let alive = Confined(daemon)
        call(daemon) { here in
            do { try await work(here, alive.value) } catch {
                here.value.checker.note("operator told: \((error as? Problem)?.code.name ?? "\(error)")")
            }
        }
    }

    private func actOnOne() {
        guard !checker.jobs.isEmpty else { return }
        let job = Confined(
            draw.pick(checker.jobs.filter(\.isStored).suffix(draw.pick([5, 30, 1_000])) + [checker.jobs[0]])
        )
        let action: JobAction = draw.pick([
            .retry, .retry, .cancel, .cancel, .hold, .release, .release, .drop,
        ])
        operate { here, daemon in
            let after = try await daemon.jobs.operations.act(action, on: job.value.id, by: 0)
            guard let after, action == .cancel, after.state == .running, let flight = job.value.flight,
                flight.isOpen, !daemon.life.isDead
            else { return }
            let late = Confined(flight)
            here.value.checker.note("cancelled while running")
            here.value.call(after: 600_000_000) {
                guard late.value.isOpen else { return }
                $0.checker.fail(late.value.job, "a job goes on although it was cancelled")
            }
        }
    }

    private func actOnMany() {
        var filter = JobFilter()
        if draw.chance(80) { filter.route = draw.pick(routes).name }
        let action: JobAction = draw.pick([.retry, .retry, .retry, .cancel, .hold, .release, .drop])
        if action == .cancel || action == .drop {
            filter.reason = draw.pick([.backoff, .operatorHold, .credentials])
        }
        if action == .retry, draw.chance(60) { filter.states = [.dead, .expired, .cancelled] }
        let rate: Double? = draw.chance(60) ? draw.pick([0.05, 0.5, 5]) : nil
        let limit = draw.pick([3, 1_000])
        let meant = filter
        operate { here, daemon in
            var order = ActionOrder(action, meant, limit: limit, by: .user(0, isBulk: true))
            var offset: Duration = .zero
            repeat {
                if action == .retry {
                    order.spacing = rate.map { JobSpacing(first: offset, interval: .seconds(1 / $0)) }
                }
                let report = try await daemon.jobs.operations.act(order)
                offset += .milliseconds(report.changed * 100)
                order.cursor = report.next
            } while order.cursor != nil
        }
    }

    private func pauseOrResume() {
        let name = draw.pick(routes.filter(\.isConfigured)).name
        let isSwallowed = plant == .losesPause
        if draw.chance(55) {
            let duration: Duration? = draw.chance(50) ? .seconds(draw.pick([2, 30, 900, 7_200])) : nil
            operate { here, daemon in
                if isSwallowed { return here.value.checker.paused(name, until: nil, wall: here.value.wall) }
                try await daemon.jobs.pauses.pause(name, reason: "an operator says so", for: duration)
            }
        } else {
            operate { here, daemon in try await here.resume(name, daemon) }
        }
    }

    private func change() {
        for route in routes where draw.chance(40) { route.resize(draw.number(1...4), now: timeline.now) }
        checker.note("reloaded")
        checker.tell(nil, "the configuration is another")
        reload()
    }

    private func remove() {
        let route = draw.pick(routes)
        guard route.isConfigured, routes.count(where: \.isConfigured) > 2 else { return }
        route.isConfigured = false
        checker.note("route removed")
        checker.tell(nil, "\(route.name) is removed")
        reload()
        plan(after: draw.time(10...draw.pick([100, 20_000, 3_600_000]))) { [self] _ in
            guard !route.isConfigured else { return }
            route.isConfigured = true
            checker.tell(nil, "\(route.name) is back")
            lastTrouble = timeline.now
            reload()
        }
    }

    private func fill() {
        isFull = true
        hasReserve = hasNotices && noticeDraw.chance(60)
        checker.note("disk full")
        plan(after: draw.time(100...draw.pick([2_000, 40_000]))) { [self] _ in
            isFull = false
            lastTrouble = timeline.now
        }
    }

    /// An orderly stop: what is under way has a moment to end, and then the next process starts.
    private func stop() {
        guard let daemon, daemon.life.isServing, !isFull, timeline.now - lastStep > 3_000_000_000 else {
            return
        }
        checker.tell(nil, "process \(daemon.life.number) stops")
        checker.note("stopped")
        daemon.life.isServing = false
        daemon.engine.drain()
        daemon.jobs.drain()
        let alive = Confined(daemon)
        plan(after: draw.time(0...draw.pick([10, 3_000, 40_000]))) { [self] _ in
            guard !alive.value.life.isDead else { return }
            alive.value.jobs.abort()
            plan(after: 8_000_000_000) { [self] _ in
                guard !alive.value.life.isDead else { return }
                checker.stopped(alive.value)
                end(alive.value)
                checker.crashed(alive.value.life.number)
                restart()
            }
        }
    }

    /// Once all is well: what was paused and held goes on.
    func letGo() {
        let names = routes.map(\.name)
        operate { here, daemon in
            for name in names where daemon.jobs.pauses.pause(of: name) != nil {
                try await here.resume(name, daemon)
            }
            var filter = JobFilter()
            filter.states = [.held]
            filter.reason = .operatorHold
            let order = ActionOrder(.release, filter, limit: 10_000, by: .user(0, isBulk: true))
            _ = try await daemon.jobs.operations.act(order)
        }
    }
}

extension Confined where Value == DurableWorld {
    fileprivate func resume(_ name: String, _ daemon: DurableDaemon) async throws(Problem) {
        if daemon.engine.snapshot.routes[name] != nil { value.checker.resumed(name) }
        try await daemon.jobs.pauses.resume(name)
    }
}
