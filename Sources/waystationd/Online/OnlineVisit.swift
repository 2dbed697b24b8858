import RelayBase
import RelayConfig
import RelayCore
import RelayInterface
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelayTransport

/// Looks at the endpoints of a configuration side by side, by the code that would serve requests.
struct OnlineVisit: Sendable {
    /// Connections, tokens and requests that are under way at once.
    private static let atOnce = 16
    /// A certificate that expires sooner is told of, in days.
    private static let shortLife = 14
    /// Bytes of an answer's content that are read.
    private static let contentLimit = 1_048_576

    private let endpoints: [OnlineEndpoint]
    private let limit: Duration
    private let deadline: Instant
    private let transport: LoopTransport
    private let vault: CredentialVault
    private let relay: Relay
    private let keepsTokens: Bool
    private let semaphore = TaskSemaphore(Self.atOnce)

    /// Looks from a process of its own, which keeps no token: one that would use something up is not asked for.
    ///
    /// - Returns: what was seen of each endpoint, within the time limit.
    static func run(_ loaded: LoadedConfiguration, limit: Duration) throws(PosixError) -> [OnlineFinding] {
        SignalWatcher.ignoreBrokenPipes()
        let loop = try EventLoop.start(name: "check")
        defer { loop.stop() }
        let vault = CredentialVault(
            loaded.configuration.credentials.filter { !$0.isUsedUp },
            secrets: loaded.secrets
        )
        let visit = OnlineVisit(loaded, limit, on: loop, vault, keepsTokens: false, Unheard())
        let seen = Handover<[OnlineFinding]>()
        loop.spawn { seen.give(await visit.findings()) }
        return seen.take()
    }

    /// Looks on that loop, which outlives the visit where others may wait for a token that it asks for; `keepsTokens` says
    /// whether the vault's owner keeps what a token endpoint gives, and `sink` hears of tokens.
    init(
        _ loaded: LoadedConfiguration,
        _ limit: Duration,
        on loop: EventLoop,
        _ vault: CredentialVault,
        keepsTokens: Bool,
        _ sink: any EventSink
    ) {
        let secrets = loaded.secrets
        endpoints = OnlineEndpoint.all(loaded, asksAll: keepsTokens)
        self.keepsTokens = keepsTokens
        self.limit = limit
        self.vault = vault
        deadline = Instant(nanoseconds: SystemClock.monotonic()).advanced(by: limit)
        transport = LoopTransport(on: loop, secrets: { secrets[$0] })
        let ports = RelayPorts(
            transport: transport,
            time: LoopTime(loop: loop),
            entropy: MachineEntropy(),
            sink: sink,
            start: { loop.spawn($0) },
            execute: { loop.execute($0) },
            signer: OpenSSLSigner(secrets: { secrets[$0] })
        )
        var added = HeaderFields()
        added.append("Via", "1.1 \(RelayFields.pseudonym)")
        relay = Relay(ports: ports, added: added)
    }

    private final class Unheard: EventSink {
        func record(_ event: JobEvent) {}
    }

    /// The findings of all endpoints; called on the loop.
    func findings() async -> [OnlineFinding] {
        await Self.sideBySide(endpoints.count) { await finding(of: endpoints[$0]) }
    }

    /// The findings of so many pieces of work, in their order.
    private static func sideBySide(
        _ count: Int,
        _ work: @escaping @Sendable (Int) async -> OnlineFinding
    ) async -> [OnlineFinding] {
        await withTaskGroup(of: (Int, OnlineFinding).self) { group in
            for index in 0..<count { group.addTask { (index, await work(index)) } }
            var findings = [OnlineFinding?](repeating: nil, count: count)
            for await (index, finding) in group { findings[index] = finding }
            return findings.compactMap(\.self)
        }
    }

    private func finding(of endpoint: OnlineEndpoint) async -> OnlineFinding {
        var finding = OnlineFinding(endpoint)
        var limits = AttemptTimeouts(connect: endpoint.connect, idle: endpoint.connect)
        if endpoint.isLimitOfCredential { limits.source = LimitName("the credential's timeout") }
        let request = OutboundRequest(
            upstream: endpoint.upstream,
            method: .head,
            target: "/",
            fields: HeaderFields(),
            body: .empty,
            deadline: deadline,
            timeouts: limits,
            limits: ResponseLimits(),
            timeLimit: TimeLimit("--timeout", limit)
        )
        await semaphore.wait()
        let isLate = now >= deadline
        if !isLate { finding.take(await transport.reach(request), shortLife: Self.shortLife) }
        semaphore.signal()
        guard !isLate else {
            finding.add(.unseen(.connect, endpoint.name, limit))
            return finding
        }
        guard finding.fault == nil else { return finding }
        let credentials = endpoint.credentials.count
        let rest = await Self.sideBySide(credentials + endpoint.questions.count) { index in
            var finding = OnlineFinding(endpoint)
            await semaphore.wait()
            finding.add(
                index < credentials
                    ? await token(of: endpoint.credentials[index])
                    : await answer(to: endpoint.questions[index - credentials])
            )
            semaphore.signal()
            return finding
        }
        for one in rest { for step in one.steps { finding.add(step) } }
        finding.tellOfCertificateRequest()
        return finding
    }

    private var now: Instant { Instant(nanoseconds: SystemClock.monotonic()) }

    private func token(of credential: CredentialDefinition) async -> OnlineFinding.Step {
        if credential.isUsedUp, !keepsTokens {
            let detail =
                "no token was asked for: a refresh token may be good for one time, and the service needs it"
            return OnlineFinding.Step(name: .token, result: .skipped, detail: detail)
        }
        let began = now
        guard began < deadline else { return .unseen(.token, "the token of \(credential.owner)", limit) }
        let known = vault.states(now: began).first { $0.name == credential.name }?.generation
        let given = await withTaskGroup(of: Result<Token, Failure>?.self) { [vault, relay, deadline] group in
            group.addTask {
                await Result { () async throws(Failure) in
                    try await vault.tokenAskedAnew(credential.name, ports: relay.ports)
                }
            }
            group.addTask {
                try? await relay.ports.time.sleep(until: deadline)
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        let time = began.duration(to: now)
        switch given {
        case .success(let token)?:
            let life = token.expiresAt.map {
                "for \(DurationText.text(.seconds(began.duration(to: $0).components.seconds)))"
            }
            let isKnown = token.generation == known
            let detail =
                (isKnown ? "\(credential.owner) has a token" : "a token was given to \(credential.owner)")
                + ", \(life ?? "for as long as it is taken")\(isKnown ? ", and none was asked for" : "")"
            return OnlineFinding.Step(name: .token, time: time, detail: detail)
        case .failure(let failure)?:
            return .failed(.token, failure, time, of: credential.owner, at: credential.endpoint)
        case nil: return .late(.token, "the token of \(credential.owner)", limit, time)
        }
    }

    private func answer(to question: OnlineEndpoint.Question) async -> OnlineFinding.Step {
        let (route, began) = (question.route, now)
        let left = began.duration(to: deadline)
        let owner = "route \(route.name)"
        guard left > .zero else { return .unseen(.request, "the request of \(owner)", limit) }
        guard !question.lacksToken else {
            let detail = "no request was sent for \(owner), whose token is not asked for"
            return OnlineFinding.Step(name: .request, result: .skipped, detail: detail)
        }
        var policy = route.policy
        // An attempt that has no time of its own left ends by the limit of all of it.
        let isCut = left < min(policy.timeouts.attempt, policy.timeouts.total)
        policy.timeouts.total = min(policy.timeouts.total, left)
        let (method, path) = (question.request.method, question.request.path)
        let context = JobContext(
            id: JobID(milliseconds: SystemClock.wall() / 1_000_000, random: (relay.ports.entropy.next(), 0)),
            route: Route(name: route.name, policy: policy),
            method: method,
            target: path,
            options: JobOptions(),
            client: nil
        )
        let request = HTTPRequest(method: method, target: path, fields: HeaderFields(), body: .empty)
        let outcome = await relay.perform(request, context: context, vault: vault)
        var failure = outcome.failure
        var isLate = isCut && failure?.detail.contains(text: "timeouts.total") ?? false
        if failure == nil {
            failure = await faultOfContent(outcome.answer)
            isLate = now >= deadline
        }
        let time = began.duration(to: now)
        if let failure {
            if failure.kind == .credentialsFailed, let name = route.policy.authentication?.credential,
                vault.canRefresh(name)
            {
                // The fault is the token endpoint's, which is told of in its own place.
                let detail = "no request was sent for \(owner), to which no token was given"
                return OnlineFinding.Step(name: .request, result: .skipped, time: time, detail: detail)
            }
            if isLate { return .late(.request, "the whole answer to \(owner)", limit, time) }
            return .failed(.request, failure, time, of: owner, at: route.policy.upstreams[0].origin)
        }
        let status = outcome.answer.map { "\($0.status.rawValue)" }
        let detail = "\(method.rawValue) \(context.path) of \(owner) was answered \(status ?? "")"
        return OnlineFinding.Step(name: .request, time: time, detail: detail, word: status)
    }

    /// Reads what comes, as far as a caller would have to wait for it; events may come for as long as they like.
    private func faultOfContent(_ answer: HTTPResponse?) async -> Failure? {
        guard let answer, case .stream(let source) = answer.body else { return nil }
        defer { source.cancel() }
        if answer.fields[.contentType]?.hasPrefix("text/event-stream") ?? false { return nil }
        source.bound(by: deadline)
        var count = 0
        do throws(Failure) {
            while count < Self.contentLimit, let piece = try await source.next() { count += piece.count }
            return nil
        } catch {
            return error
        }
    }
}
