import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport

/// One route with its upstreams and everybody who wants something of it at once.
final class TrafficWorld: Simulated {
    static let route = "route"

    let queue = RunQueue()
    let timeline = Timeline()
    let checker: TrafficChecker
    let plant: TrafficPlant?
    let mode: TrafficMode
    let passingPlant: PassingPlant?
    let jobCount: Int
    var draw: SplitMix64
    let upstreams: [TrafficUpstream]
    let listed: [Upstream]
    /// Of a hundred requests, those that are kept.
    let keptShare: Int
    var tasks: [Int: Task<Void, Never>] = [:]
    private(set) var daemon: SimulatedDaemon?
    private(set) var memory: MemoryJobStore?
    /// Callers that have not come yet, or are not done.
    var expected = 0
    var burned = 0
    /// Since when nothing goes wrong any more.
    private(set) var healedAt: Int64?
    var isOver = false

    init(
        seed: UInt64,
        jobs: Int,
        plant: TrafficPlant?,
        mode: TrafficMode = .off,
        passingPlant: PassingPlant? = nil
    ) {
        (self.plant, self.mode, self.passingPlant) = (plant, mode, passingPlant)
        jobCount = jobs
        var draw = SplitMix64(seed: seed &* 0xD134_2543_DE82_EF95 &+ 13)
        let count = draw.number(1...3)
        let names = (0..<count).map { "u\($0)" }
        // Nothing but the rate is in anybody's way.
        let isCalm = draw.chance(12)
        upstreams = names.map { _ in TrafficUpstream(seed: draw.next(), isCalm: isCalm, &draw) }
        let isSwapped = plant == .swapsUpstreams && count > 1
        listed = names.indices.map { place in
            let port = isSwapped && place < 2 ? 1 - place : place
            let use: Upstream.Use = place == 0 ? .always : .failoverOnly
            return Upstream(name: names[place], origin: .upstream(port), use: use)
        }
        keptShare = isCalm ? 40 : draw.pick([0, 10, 40, 90])
        checker = TrafficChecker(timeline, names: names, wanted: plant?.sentences)
        var terms = TrafficTerms(number: 0, upstreams: count, &draw)
        if isCalm { terms.setBusy() }
        checker.terms = [terms]
        self.draw = draw
    }

    var engine: Engine? { daemon?.engine }
    var jobs: DurableJobs? { daemon?.jobs }

    var toldWall: Int64 { wall + (plant == .clockAhead ? 3_000 : 0) }

    /// Whether it is the task that claims kept jobs that waits.
    @TaskLocal fileprivate static var isLane = false

    func end(of moment: Int64, isSleep: Bool) -> Int64 {
        let isLate = isSleep ? plant == .late : plant == .lateLane && TrafficWorld.isLane
        let late: Int64 = isLate ? isSleep ? 500_000_000 : 3_000_000_000 : 0
        return moment.addingReportingOverflow(late).partialValue
    }

    private func snapshot(_ previous: Snapshot?) -> Snapshot {
        var terms = checker.present
        plant?.change(&terms)
        return Snapshot(
            routes: [Route(name: TrafficWorld.route, policy: terms.policy(listed))],
            vault: CredentialVault([], secrets: [:]),
            settings: Snapshot.Settings(),
            previous: plant == .forgetsAll ? nil : previous
        )
    }

    var entry: Snapshot.Entry? { engine?.snapshot.routes[TrafficWorld.route] }

    func reload() {
        guard let engine, let jobs, healedAt == nil else { return }
        look()
        checker.terms.append(TrafficTerms(number: checker.terms.count, upstreams: listed.count, &draw))
        checker.configured(after: checker.terms[checker.terms.count - 2])
        checker.tell("the configuration is another: \(checker.present)")
        checker.note("reloaded")
        engine.install(snapshot(engine.snapshot))
        // Windows may be others for that.
        for place in listed.indices { checker.forgetWidth(place) }
        look()
        jobs.configured(DurableJobs.Settings())
        loseGrowth()
    }

    private func heal() {
        checker.tell("all is well from now on")
        healedAt = timeline.now
        for upstream in upstreams { upstream.isHealed = true }
        for place in listed.indices { order(place, opens: nil, for: 0) }
    }

    func run() {
        GlobalQueue.enter(queue)
        defer { GlobalQueue.leave() }
        checker.tell("\(checker.present)")
        boot()
        let end = planCallers()
        for _ in 0..<draw.pick([0, 0, 1, 3]) { call(after: draw.time(1...end)) { $0.reload() } }
        for _ in 0..<draw.pick([0, 0, 2, 5]) { call(after: draw.time(1...end)) { $0.meddle() } }
        call(after: Int64(end) * 1_000_000 + 1) { $0.heal() }
        call(after: 1_000_000_000) { $0.audit() }
        func settle() {
            look(isSettled: true)
            checker.instantOver()
        }
        goOn(until: { checker.violation != nil }, settle: settle)
        if checker.violation == nil, !isOver { checker.fail(nil, "the world stands still") }
        // The tasks and the closure that hold the world are let go with it.
        (tasks, checker.hasPermits) = ([:], { false })
    }

    private func boot() {
        let here = Confined(self)
        var events = JobStoreEvents()
        events.ready = { if here.value.plant != .losesReady { here.value.jobs?.ready($0) } }
        let memory = MemoryJobStore(at: JobMoment(wall: wall, steady: 0), events: events)
        self.memory = memory
        let queue = queue
        let daemon = SimulatedDaemon(
            snapshot(nil),
            memory,
            time: SimulatedTime(here),
            transport: SimulatedTransport(here.take),
            listener: SimulatedListener { here.value.heard($0) },
            entropy: { SimulatedEntropy(seed: here.value.draw.next()) },
            start: { work in
                TrafficWorld.$isLane.withValue(true) { Task(executorPreference: queue) { await work() } }
            }
        )
        self.daemon = daemon
        checker.hasPermits = { here.value.hasPermits }
        loseGrowth()
        let started = Confined(daemon)
        spawn { here in
            do throws(StoreError) { try await started.start() } catch {
                here.value.checker.fail(nil, "a start fails: \(error)")
            }
        }
    }

    private func loseGrowth() { if plant == .losesGrowth { entry?.memory.traffic.whenWider {} } }

    /// Whether a request would find a permit.
    var hasPermits: Bool {
        guard let entry else { return false }
        let most = min(entry.route.policy.concurrency.maxRequests, max(1, entry.memory.traffic.width))
        return entry.state.load.inFlight < most && entry.state.load.pending == 0
    }

    fileprivate func heard(_ event: JobEvent) {
        switch event {
        case .breakerChanged(_, let change):
            checker.breakerChanged(change.upstream, probeIn: change.probeIn?.saturatedNanoseconds)
        case .attemptFailed(let context, let attempt):
            checker.failed(context.id, attempt, isDelivery: context.history != nil)
        case .changed(let report), .ended(let report):
            if report.isDurable { checker.settled(report.id, report.state) }
        default: break
        }
    }
}
