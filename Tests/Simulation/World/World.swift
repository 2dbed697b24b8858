import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport

/// Upstreams, endpoints, routes and callers around the real core.
final class World: Simulated {
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
    private(set) var relay: Relay?
    /// Two where a bug is planted that has two for one.
    private(set) var vaults: [CredentialVault] = []
    /// Mean nanoseconds between arrivals.
    var pace: Int64 = 0

    init(seed: UInt64, jobs: Int, plant: Plant?) {
        jobCount = jobs
        self.plant = plant
        draw = SplitMix64(seed: seed &* 0xD134_2543_DE82_EF95 &+ 1)
        checker = Checker(jobs: jobs, timeline, plant)
        tasks = Array(repeating: nil, count: jobs)
        pace = Int64(draw.pick([500, 1_000, 2_000, 4_000])) * 1_000
        // One more than routes have: a planted bug leads to it.
        for index in 0...World.upstreamCount { upstreams.append(SimulatedUpstream(index, seed: draw.next())) }
        for index in 0..<World.credentialCount {
            let isMissing = index == 3 && seed % 2 == 0
            credentials.append(CredentialCase(index, &draw, isMissing: isMissing, plant: plant))
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

    func run() {
        GlobalQueue.enter(queue)
        defer {
            GlobalQueue.leave()
            // Their strategies, and the ports, know the world.
            (routes, checker.routes, relay) = ([], [], nil)
        }
        let confined = Confined(self)
        let ports = RelayPorts(
            transport: PromptOver(
                SimulatedTransport(confined.take),
                start: { confined.value.start($0) },
                isGone: { confined.value.isConnectionGone() }
            ),
            time: PromptClock(SimulatedTime(confined), start: { confined.value.start($0) }),
            entropy: SimulatedEntropy(seed: draw.next()),
            sink: SimulatedListener { confined.value.checker.recorded($0) },
            start: { work in confined.value.start(work) },
            isConstrained: {
                confined.value.plant != .ignoresConstraint && confined.value.checker.isConstrained
            }
        )
        relay = Relay(ports: ports)
        vaults = [vault(nil), vault(nil)]
        if jobCount > 0 { call(after: 0) { $0.arrive() } }
        call(after: 10_000_000_000) { $0.reload() }
        call(after: 1_000_000_001) { $0.changeNetwork() }
        goOn(until: { checker.violation != nil })
        guard checker.violation == nil else { return }
        tasks = []
        checker.quiet(sleeping: timeline.sleeping, running: running, streams: openStreams)
    }

    private func changeNetwork() {
        checker.networkChanges.append(timeline.now)
        guard arrived < jobCount else { return }
        // Off every round number, so that no attempt begins in the same instant.
        let next = timeline.now + draw.time(500...6_000) | 1
        call(after: next - timeline.now) { $0.changeNetwork() }
    }

    private func reload() {
        vaults = vaults.map { vault(plant == .forgetsToken || plant == .forgetsRefreshToken ? nil : $0) }
        checker.note(.reloaded)
        if arrived < jobCount { call(after: draw.time(1_000...20_000)) { $0.reload() } }
    }

    var isDeaf: Bool { plant == .deaf }

    func end(of moment: Int64, isSleep: Bool) -> Int64 {
        switch plant {
        case .late: moment.addingReportingOverflow(7_000_000).partialValue
        case .early: moment - (moment - timeline.now) / 8
        default: moment
        }
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
        checker.note(isGone ? .keptConnectionGone : .withoutTask)
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
