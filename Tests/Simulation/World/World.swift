import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport

/// Upstreams, endpoints, routes and callers, drawn from one seed, around the real core.
///
/// Single-threaded: whoever made it pumps it.
final class World: Timed {
    static let upstreamPort: UInt16 = 1_000
    static let endpointPort: UInt16 = 2_000
    static let upstreamCount = 6
    private static let routeCount = 8
    private static let credentialCount = 4

    let queue = RunQueue()
    let timeline = Timeline()
    let checker: Checker
    let documents = Document.allCases.map(\.bytes)
    var openStreams = 0
    /// Where a planted bug keeps bodies that should be gone.
    var hoard: [SimulatedBody] = []
    /// Tasks the core started beside its jobs.
    private var running = 0

    let jobCount: Int
    let plant: Plant?
    var draw: SplitMix64
    var upstreams: [SimulatedUpstream] = []
    var endpoints: [SimulatedEndpoint] = []
    var credentials: [CredentialCase] = []
    var routes: [RouteCase] = []
    var tasks: [Task<Void, Never>?]
    var arrived = 0
    /// Mean nanoseconds between arrivals.
    var pace: Int64 = 0

    init(seed: UInt64, jobs: Int, plant: Plant?) {
        jobCount = jobs
        self.plant = plant
        draw = SplitMix64(seed: seed &* 0xD134_2543_DE82_EF95 &+ 1)
        checker = Checker(jobs: jobs, timeline: timeline)
        checker.wanted = plant?.sentence
        checker.plant = plant
        tasks = Array(repeating: nil, count: jobs)
        pace = Int64(draw.pick([500, 1_000, 2_000, 4_000])) * 1_000
        // One more than routes have: a planted bug leads to it.
        for index in 0...World.upstreamCount { upstreams.append(SimulatedUpstream(index, seed: draw.next())) }
        for index in 0..<World.credentialCount {
            credentials.append(
                CredentialCase(index, &draw, isMissing: index == 3 && seed % 2 == 0, plant: plant)
            )
            endpoints.append(SimulatedEndpoint(seed: draw.next(), credential: index))
            checker.credentials.append(CredentialRecord(definition: credentials[index]))
        }
        for number in 0..<World.routeCount {
            let route = RouteCase(
                number,
                &draw,
                upstreams: World.upstreamCount,
                credentials: credentials,
                plant: plant,
                world: Confined(self)
            )
            routes.append(route)
            if let credential = route.credential {
                checker.credentials[credential].upstreams.formUnion(route.upstreams)
            }
        }
        checker.routes = routes
    }

    /// Runs every job to its end, or to the first broken promise.
    func run() {
        GlobalQueue.enter(queue)
        defer {
            GlobalQueue.leave()
            // Their strategies know the world.
            (routes, checker.routes) = ([], [])
        }
        let confined = Confined(self)
        let ports = RelayPorts(
            transport: PromptOver(SimulatedTransport(confined), start: { confined.value.start($0) }) {
                confined.value.isConnectionGone()
            },
            time: PromptClock(SimulatedTime(confined, plant), start: { confined.value.start($0) }),
            entropy: SimulatedEntropy(seed: draw.next()),
            sink: SimulatedSink(confined),
            start: { work in confined.value.start(work) },
            isConstrained: {
                confined.value.plant != .ignoresConstraint && confined.value.checker.isConstrained
            }
        )
        let relay = Relay(ports: ports)
        var vaults = [vault(nil), vault(nil)]
        if jobCount > 0 { timeline.add(.arrival, at: 0) }
        timeline.add(.reload, at: 10_000_000_000)
        timeline.add(.network, at: 1_000_000_001)
        while checker.violation == nil {
            // Events of one instant may be noticed one by one or all at once.
            if !timeline.hasMoreNow() || draw.chance(60) { queue.run() }
            guard let wake = timeline.next() else { break }
            switch wake {
            case .sleeper(let sleeper): if sleeper.wake(true) { timeline.sleeping -= 1 }
            case .arrival: arrive(relay, vaults)
            case .call(let body): body()
            case .cancellation(let job):
                checker.cancelled(job)
                tasks[job]?.cancel()
            case .network:
                checker.networkChanges.append(timeline.now)
                // Off every round number, so that no attempt begins in the same instant.
                if arrived < jobCount {
                    timeline.add(.network, at: timeline.now + draw.time(500...6_000) | 1)
                }
            case .reload:
                vaults = vaults.map {
                    vault(plant == .forgetsToken || plant == .forgetsRefreshToken ? nil : $0)
                }
                checker.coverage.note(.reloaded)
                if arrived < jobCount { timeline.add(.reload, at: timeline.now + draw.time(1_000...20_000)) }
            }
        }
        guard checker.violation == nil else { return }
        tasks = []
        checker.quiet(sleeping: timeline.sleeping, running: running, streams: openStreams)
    }

    private func vault(_ previous: CredentialVault?) -> CredentialVault {
        var definitions = credentials.map(\.definition)
        if plant == .forgetsCooldown {
            for index in definitions.indices {
                guard case .oauth2(var settings) = definitions[index].kind else { continue }
                settings.failureCooldown = .zero
                definitions[index].kind = .oauth2(settings)
            }
        }
        var secrets: [SecretReference: Secret] = [:]
        for credential in credentials { secrets.merge(credential.secrets) { first, _ in first } }
        return CredentialVault(definitions, secrets: secrets, replacing: previous)
    }

    /// Whether a request without a task finds a kept connection that is gone when it is used.
    private func isConnectionGone() -> Bool {
        let isGone = draw.chance(20)
        checker.coverage.note(isGone ? .keptConnectionGone : .withoutTask)
        return isGone
    }

    private func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        running += 1
        let confined = Confined(self)
        return Task(executorPreference: queue) {
            await work()
            if confined.value.plant == .leakedTask, confined.value.arrived % 16 == 0 {
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            confined.value.running -= 1
        }
    }
}
