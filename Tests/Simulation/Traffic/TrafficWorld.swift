import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport

/// One route with its upstreams and everybody who wants something of it at once, drawn from one seed.
///
/// Single-threaded: whoever made it pumps it.
final class TrafficWorld: SeededWorld, Timed {
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
    private(set) var engine: Engine?
    private(set) var jobs: DurableJobs?
    private(set) var relay: Relay?
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
        self.plant = plant
        self.mode = mode
        self.passingPlant = passingPlant
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
            return Upstream(
                name: names[place],
                origin: .tcp(host: "u.example", port: World.upstreamPort + UInt16(port), isTLS: true),
                use: place == 0 ? .always : .failoverOnly
            )
        }
        keptShare = isCalm ? 40 : draw.pick([0, 10, 40, 90])
        checker = TrafficChecker(timeline, names: names, wanted: plant?.sentences)
        var terms = TrafficTerms(number: 0, upstreams: count, &draw)
        if isCalm { terms.setBusy() }
        checker.terms = [terms]
        self.draw = draw
    }

    var wall: Int64 { SimulatedTime.wall(at: timeline.now) }

    func plan(after nanoseconds: Int64, _ body: @escaping () -> Void) {
        timeline.add(.call(body), at: timeline.now + nanoseconds)
    }

    /// Starts a task of the world's.
    @discardableResult
    func spawn(_ work: @escaping @Sendable (Confined<TrafficWorld>) async -> Void) -> Task<Void, Never> {
        let here = Confined(self)
        return Task(executorPreference: queue) { await work(here) }
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

    /// Another configuration.
    func reload() {
        guard let engine, let jobs, healedAt == nil else { return }
        look()
        checker.terms.append(
            TrafficTerms(number: checker.terms.count, upstreams: listed.count, &draw)
        )
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
}

// The course of things.
extension TrafficWorld {
    /// Runs every job to its end, or to the first broken promise.
    func run() {
        GlobalQueue.enter(queue)
        defer { GlobalQueue.leave() }
        checker.tell("\(checker.present)")
        boot()
        let here = Confined(self)
        let end = planCallers()
        for _ in 0..<draw.pick([0, 0, 1, 3]) { plan(after: draw.time(1...end)) { here.value.reload() } }
        for _ in 0..<draw.pick([0, 0, 2, 5]) { plan(after: draw.time(1...end)) { here.value.meddle() } }
        plan(after: Int64(end) * 1_000_000 + 1) { here.value.heal() }
        plan(after: 1_000_000_000) { here.value.audit() }
        while checker.violation == nil {
            if !timeline.hasMoreNow() || draw.chance(60) { queue.run() }
            if !timeline.hasMoreNow() {
                look(isSettled: true)
                checker.instantOver()
            }
            guard let wake = timeline.next() else { break }
            switch wake {
            case .sleeper(let sleeper): if sleeper.wake(true) { timeline.sleeping -= 1 }
            case .call(let body): body()
            case .arrival, .cancellation, .reload, .network: break
            }
        }
        if checker.violation == nil, !isOver { checker.violated(nil, "the world stands still") }
        // The tasks and the closure that hold the world are let go with it.
        (tasks, checker.hasPermits) = ([:], { false })
    }

    private func boot() {
        let here = Confined(self)
        var events = JobStoreEvents()
        events.ready = { if here.value.plant != .losesReady { here.value.jobs?.ready($0) } }
        let memory = MemoryJobStore(at: JobMoment(wall: wall, steady: 0), events: events)
        let time = TrafficTime(here)
        let engine = Engine(
            snapshot: snapshot(nil),
            time: time,
            entropy: SimulatedEntropy(seed: draw.next())
        )
        let audience = Audience(engine, feed: EventFeed(capacity: 16))
        let announcer = audience.announcer(and: [TrafficListener(here)])
        let jobs = DurableJobs(
            store: memory,
            audience,
            announcer,
            settings: DurableJobs.Settings(),
            digest: { $0 }
        )
        let queue = queue
        let relay = Relay(
            ports: RelayPorts(
                transport: TrafficTransport(here),
                time: time,
                entropy: SimulatedEntropy(seed: draw.next()),
                sink: announcer,
                start: { work in
                    TrafficTime.$isLane.withValue(true) { Task(executorPreference: queue) { await work() } }
                }
            )
        )
        (self.memory, self.engine, self.jobs, self.relay) = (memory, engine, jobs, relay)
        checker.hasPermits = { here.value.hasPermits }
        loseGrowth()
        let started = Confined(Started(jobs, relay))
        spawn { here in
            do throws(StoreError) {
                try await started.value.jobs.start(on: [DeliveryLoop(started.value.relay)])
            } catch { here.value.checker.violated(nil, "a start fails: \(error)") }
        }
    }

    private func loseGrowth() { if plant == .losesGrowth { entry?.memory.traffic.whenWider {} } }

    /// Whether a request would find a permit.
    var hasPermits: Bool {
        guard let entry else { return false }
        let most = min(entry.route.policy.concurrency.maxRequests, max(1, entry.memory.traffic.width))
        return entry.state.load.inFlight < most && entry.state.load.pending == 0
    }
}

/// The parts that a world starts.
private final class Started {
    let jobs: DurableJobs
    let relay: Relay

    init(_ jobs: DurableJobs, _ relay: Relay) { (self.jobs, self.relay) = (jobs, relay) }
}

/// Hears what everybody hears.
private final class TrafficListener: JobListener {
    private let world: Confined<TrafficWorld>

    init(_ world: Confined<TrafficWorld>) { self.world = world }

    func heard(_ event: JobEvent, at wall: Int64) {
        let checker = world.value.checker
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
