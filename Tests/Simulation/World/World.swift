import RelayCore

/// Upstreams, endpoints, routes and callers, drawn from one seed, around the real core.
///
/// Single-threaded: whoever made it pumps it.
final class World {
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

    private let jobCount: Int
    let plant: Plant?
    private var draw: SplitMix64
    private var upstreams: [SimulatedUpstream] = []
    private var endpoints: [SimulatedEndpoint] = []
    private var credentials: [CredentialCase] = []
    private var routes: [RouteCase] = []
    private var tasks: [Task<Void, Never>?]
    private var arrived = 0
    /// Mean nanoseconds between arrivals.
    private var pace: Int64 = 0

    init(seed: UInt64, jobs: Int, plant: Plant?) {
        jobCount = jobs
        self.plant = plant
        draw = SplitMix64(seed: seed &* 0xD134_2543_DE82_EF95 &+ 1)
        checker = Checker(jobs: jobs, timeline: timeline)
        checker.wanted = plant?.sentence
        tasks = Array(repeating: nil, count: jobs)
        pace = Int64(draw.pick([500, 1_000, 2_000, 4_000])) * 1_000
        for _ in 0..<World.upstreamCount { upstreams.append(SimulatedUpstream(seed: draw.next())) }
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
                plant: plant
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
        let confined = Confined(self)
        let ports = RelayPorts(
            transport: SimulatedTransport(confined),
            time: SimulatedTime(confined, plant),
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
            // What comes in one instant may be noticed one by one or all at once.
            if !timeline.hasMoreNow() || draw.chance(60) { queue.run() }
            guard let wake = timeline.next() else { break }
            switch wake {
            case .sleeper(let sleeper): if sleeper.wake(true) { timeline.sleeping -= 1 }
            case .arrival: arrive(relay, vaults)
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

    private func start(_ work: @escaping @Sendable () async -> Void) {
        running += 1
        let confined = Confined(self)
        Task(executorPreference: queue) {
            await work()
            if confined.value.plant == .leakedTask, confined.value.arrived % 16 == 0 {
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            confined.value.running -= 1
        }
    }
}

// MARK: Callers

extension World {
    private func arrive(_ relay: Relay, _ vaults: [CredentialVault]) {
        let burst = draw.chance(5) ? draw.number(2...40) : 1
        for _ in 0..<min(burst, jobCount - arrived) {
            submit(arrived, relay, vaults[plant == .doubleRefresh ? arrived % 2 : 0])
            arrived += 1
        }
        guard arrived < jobCount else { return }
        timeline.add(.arrival, at: timeline.now + pace * Int64(burst) * Int64(draw.below(200)) / 100)
    }

    private func submit(_ number: Int, _ relay: Relay, _ vault: CredentialVault) {
        let now = timeline.now
        let route = routes[draw.below(routes.count)]
        let methods: [Method] = [.get, .post, .put, .delete, .patch, .head, .options]
        let method = methods[draw.weighted([36, 34, 10, 7, 6, 4, 3])]
        let options = options()
        var began: Instant?
        if draw.chance(10) {
            let total = min(options.timeout ?? route.policy.timeouts.total, route.policy.timeouts.total)
            began = Instant(nanoseconds: now - total.saturatedNanoseconds * Int64(draw.below(100)) / 100)
            checker.coverage.note(.waitedForPlace)
        }
        let (content, body) = content(method)
        let target = draw.below(12)
        let request = HTTPRequest(method: method, target: "t\(target)", fields: fields(number), body: body)
        let context = JobContext(
            id: JobID(milliseconds: 1_800_000_000_000, random: (draw.next(), UInt64(number))),
            route: route.route,
            method: method,
            target: request.target,
            options: options,
            client: nil,
            memory: route.memory
        )
        let record = JobRecord(
            number,
            route,
            method,
            options,
            content,
            target: target,
            isShareable: method == .get && !request.fields.contains(.authorization),
            began: began?.nanoseconds ?? now
        )
        if draw.chance(9) {
            let most = Int(record.deadline - now) / 1_000_000
            timeline.add(
                .cancellation(job: number),
                at: now + draw.time(0...max(1, most / draw.pick([1, 4, 20])))
            )
        }
        checker.began(record)
        let confined = Confined(self)
        tasks[number] = Task(executorPreference: queue) {
            await confined.perform(relay, request, context, vault, began)
            confined.value.checker.left(number)
            confined.value.tasks[number] = nil
        }
        if draw.chance(1) {
            checker.cancelled(number, isNew: true)
            tasks[number]?.cancel()
        }
    }

    private func options() -> JobOptions {
        var options = JobOptions()
        if draw.chance(18) { options.timeout = .milliseconds(draw.pick([50, 200, 1_000, 4_000, 60_000])) }
        if draw.chance(10) { options.attemptTimeout = .milliseconds(draw.pick([20, 150, 500, 60_000])) }
        if draw.chance(15) { options.maxAttempts = draw.number(1...10) }
        options.allowsFallback = draw.chance(88)
        options.hasIdempotencyKey = draw.chance(5)
        options.collectsAnswer = draw.chance(25)
        return options
    }

    private func fields(_ number: Int) -> HeaderFields {
        var fields = HeaderFields()
        fields.append("X-Job", "\(number)")
        fields.append("Accept", "application/json")
        if draw.chance(35) {
            fields.append(
                draw.pick(["Idempotency-Key", "idempotency-key", "Webhook-Id"]),
                "k\(draw.below(1_000))"
            )
        } else if draw.chance(8) {
            fields.append("Idempotency-Key", draw.pick(["", "  ", "\"\""]))
        }
        if draw.chance(12) { fields.append("Authorization", "Bearer ~u") }
        if draw.chance(6) { fields.append("x-api-key", "~u") }
        return fields
    }

    private func content(_ method: Method) -> (JobRecord.Content, Body) {
        guard method == .post || method == .put || method == .patch else { return (.none, .empty) }
        switch draw.below(10) {
        case 0: return (.none, .empty)
        case 1: return (.text, .bytes(Array("a=1".utf8)))
        case 2, 3:
            let upload = SimulatedUpload(announced: draw.chance(50), hidesReading: plant == .repeatsBody)
            return (.stream(upload), .stream(upload))
        default: return (.json, .bytes(Array(#"{"a":1}"#.utf8)))
        }
    }
}

extension Confined where Value == World {
    /// Runs one job, with whatever bug is planted between it and the checker.
    fileprivate func perform(
        _ relay: Relay,
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        _ began: Instant?
    ) async {
        let number = Int(context.id.low)
        let outcome: Outcome
        if value.plant == .stuckJob, number % 1_000 == 999 {
            unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        if value.plant == .sendsAfterCancel {
            outcome = await Task(executorPreference: value.queue) {
                await relay.perform(request, context: context, vault: vault, since: began)
            }.value
        } else {
            outcome = await relay.perform(request, context: context, vault: vault, since: began)
        }
        if value.plant == .lostOutcome, number % 1_000 == 999 { return }
        value.checker.outcome(number, outcome)
        if value.plant == .secondOutcome, number % 1_000 == 999 { value.checker.outcome(number, outcome) }
    }
}

// MARK: Attempts

extension World {
    /// An attempt reaches the transport; what becomes of it.
    func began(_ request: OutboundRequest, job number: Int, upstream: Int) -> Reply {
        let isLate = timeline.now >= request.deadline.nanoseconds
        let isRefused = Task.isCancelled || isLate
        guard checker.jobs.indices.contains(number), let job = checker.jobs[number] else {
            checker.violated(number, "an attempt is sent for a job that has ended")
            return Reply(after: 0, kind: .fails(.cancelled, .neverSent))
        }
        checker.sent(job, request, upstream: upstream, isRefused: isRefused)
        if isRefused {
            checker.coverage.note(Task.isCancelled ? .refusedCancelled : .refusedLate)
            return Reply(after: 0, kind: .fails(.httpResponseTimeout, .neverSent))
        }
        if case .stream = request.body { checker.coverage.note(.uploadRead) }
        let asked = SimulatedUpstream.Asked(
            now: timeline.now,
            method: request.method,
            connect: request.timeouts.connect.saturatedNanoseconds,
            attempt: request.deadline.nanoseconds - timeline.now,
            isAuthorised: isAuthorised(job),
            wallSeconds: checker.wallSeconds
        )
        let reply = upstreams[upstream].reply(asked)
        if upstreams[upstream].takeRevocation() {
            for index in checker.credentials.indices {
                checker.credentials[index].revoked = checker.credentials[index].given
            }
        }
        return reply
    }

    private func isAuthorised(_ job: JobRecord) -> Bool? {
        guard let index = job.route.credential, credentials[index].isFetched else { return nil }
        let credential = checker.credentials[index]
        guard job.token > 0, job.token < credential.expiries.count else { return false }
        return job.token > credential.revoked && timeline.now < credential.expiries[job.token]
    }

    /// A token request reaches its endpoint.
    func asked(_ request: OutboundRequest, credential index: Int) -> SimulatedEndpoint.Reply {
        checker.tokenAsked(index, request)
        let credential = checker.credentials[index]
        let timeout = request.deadline.nanoseconds - timeline.now
        let reply = endpoints[index].reply(
            now: timeline.now,
            timeout: timeout,
            generation: credential.given + 1,
            refreshToken: credential.refreshToken + 1,
            lengthens: plant == .staleToken
        )
        checker.coverage.note(reply.after >= timeout ? .tokenTimedOut : reply.coverage)
        return reply
    }
}
