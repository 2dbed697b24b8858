import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport

/// The engine as the daemon has it, between upstreams and callers of a scenario, on virtual time.
///
/// Moments are in seconds since its start.
final class ScenarioWorld: Simulated {
    /// A part of what keeps an upstream's trouble from spreading.
    enum Part { case breaker, budget, window, throttling }

    let isControl: Bool
    let timeline = Timeline()
    let queue = RunQueue()
    private(set) var upstreams: [ScenarioUpstream] = []
    private var routes: [Route] = []
    var calls: [Call] = []
    var kept = 0
    private(set) var looks: [(at: Double, window: Int?)] = []
    private var settings = Snapshot.Settings()
    var draw: SplitMix64
    private var isReached = false
    private(set) var serving: SimulatedDaemon?
    private var store: MemoryJobStore?

    var now: Double { Double(timeline.now) / 1e9 }

    init(seed: UInt64, isControl: Bool) {
        draw = SplitMix64(seed: seed)
        self.isControl = isControl
        GlobalQueue.enter(queue)
    }

    deinit { GlobalQueue.leave() }

    /// A route to an upstream of its own, with the defaults of one; in a control the parts `off` are switched off.
    func route(
        _ name: String,
        to upstream: ScenarioUpstream,
        off: Set<Part> = [],
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) {
        let place = upstreams.count
        var policy = RoutePolicy(upstreams: [Upstream(name: "u\(place)", origin: aside(upstream))])
        func isOff(_ part: Part) -> Bool { isControl && off.contains(part) }
        policy.traffic.breaker.isEnabled = !isOff(.breaker)
        policy.traffic.budget.isEnabled = !isOff(.budget)
        policy.traffic.window.isEnabled = !isOff(.window)
        policy.traffic.throttling.isEnabled = !isOff(.throttling)
        change(&policy)
        routes.append(Route(name: name, policy: policy))
    }

    func aside(_ upstream: ScenarioUpstream) -> Origin {
        upstreams.append(upstream)
        return .upstream(upstreams.count - 1)
    }

    /// Starts the engine; callers have turns of their own unless somebody says otherwise.
    func start(vault: CredentialVault = CredentialVault([], secrets: [:]), callersHaveTurns: Bool = true) {
        let here = Confined(self)
        settings.callers.isEnabled = callersHaveTurns
        var events = JobStoreEvents()
        events.ready = { here.value.serving?.jobs.ready($0) }
        let store = MemoryJobStore(at: JobMoment(wall: wall, steady: 0), events: events)
        // As long as a disk takes.
        store.faults.delayWrites { await here.outwait(until: here.value.timeline.now + 1_000_000) }
        let queue = queue
        let daemon = SimulatedDaemon(
            snapshot(vault),
            store,
            time: SimulatedTime(here),
            transport: SimulatedTransport(here.take),
            listener: SimulatedListener { here.value.heard($0) },
            entropy: { SeededEntropy(seed: here.value.draw.next()) },
            start: { work in Task(executorPreference: queue) { await work() } }
        )
        (serving, self.store) = (daemon, store)
        let started = Confined(daemon)
        spawn { _ in
            do throws(StoreError) { try await started.start() } catch {
                preconditionFailure("a scenario does not start: \(error)")
            }
        }
    }

    private func snapshot(_ vault: CredentialVault, after previous: Snapshot? = nil) -> Snapshot {
        Snapshot(routes: routes, vault: vault, settings: settings, previous: previous)
    }

    /// Another configuration, of which only the credentials are others.
    func install(_ vault: CredentialVault) {
        guard let serving else { return }
        serving.engine.install(snapshot(vault, after: serving.engine.snapshot))
        serving.jobs.configured(DurableJobs.Settings())
    }

    func plan(at moment: Double, _ body: @escaping () -> Void) {
        timeline.add(.call(body), at: Int64(moment * 1e9))
    }

    func run(until moment: Double) {
        isReached = false
        plan(at: moment) { [unowned self] in isReached = true }
        while !isReached { step() }
        queue.run()
    }

    /// Lets time pass until it is so, looking every tenth of a second.
    ///
    /// - Returns: whether it came to be so before that moment.
    func run(until moment: Double, or isSo: () -> Bool) -> Bool {
        while now < moment {
            run(until: now + 0.1)
            if isSo() { return true }
        }
        return false
    }

    private func step() {
        queue.run()
        guard timeline.goOn() else { preconditionFailure("nothing is left to happen") }
    }

    /// Looks at the first route's upstream ten times a second from now on.
    func look() {
        guard let serving, let route = routes.first, let entry = serving.engine.snapshot.routes[route.name]
        else { return }
        let standing = entry.memory.traffic.standing(of: route, Instant(nanoseconds: timeline.now))
        looks.append((now, standing.upstreams.first?.window))
        plan(at: now + 0.1) { [unowned self] in look() }
    }

    /// Ends all that is under way, which would keep the world.
    func end() {
        serving?.jobs.abort()
        serving = nil
        store = nil
        repeat { queue.run() } while timeline.goOn()
    }

    var unfinished: Int { store?.count { !$0.isTerminal } ?? 0 }

    func ended(_ state: JobState) -> Int { store?.count { $0 == state } ?? 0 }

    /// Why a job from the middle of those that wait is not delivered now, as it is explained.
    func explained() -> String? {
        var waiting = JobFilter()
        waiting.states = [.queued, .retrying, .held]
        let (store, filter, found) = (store, waiting, Confined(Found()))
        spawn { _ in
            do throws(StoreError) {
                let page = try await store?.jobs(filter, order: .oldestFirst, limit: .max, after: nil)
                found.value.jobs = page?.jobs ?? []
            } catch { preconditionFailure("the store of a scenario fails: \(error)") }
        }
        queue.run()
        let jobs = found.value.jobs
        return jobs.isEmpty ? nil : serving?.jobs.blocker(of: jobs[jobs.count / 2])?.reason
    }

    private final class Found { var jobs: [StoredJob] = [] }

    /// The holds on requests of the first route, in the words that are told of them; `lifting` ends them.
    func holds(lifting: Bool = false) -> [String] {
        let moment = Instant(nanoseconds: timeline.now)
        guard let route = routes.first, let entry = serving?.engine.snapshot.routes[route.name] else {
            return []
        }
        let held = entry.memory.traffic.standing(of: route, moment).upstreams.flatMap(\.holds).map(\.requests)
        if lifting { _ = entry.memory.traffic.clear(nil, requests: nil, route, moment) }
        return held
    }

    /// The first moment from which on that share of the requests succeed, in slices of two seconds; nil where there is none.
    func isWell(
        _ share: Double,
        from begin: Double,
        until end: Double,
        of isCounted: (Call) -> Bool = { _ in true }
    ) -> Double? {
        var (wanted, good) = ([Int: Int](), [Int: Int]())
        for call in calls where call.at >= begin && call.at < end && isCounted(call) {
            let slice = Int((call.at - begin) / 2)
            wanted[slice, default: 0] += 1
            if call.isGood { good[slice, default: 0] += 1 }
        }
        let bad = wanted.filter { Double(good[$0.key] ?? 0) < share * Double($0.value) }.keys.max()
        let first = bad.map { $0 + 1 } ?? 0
        return wanted[first] == nil ? nil : begin + 2 * Double(first)
    }
}
