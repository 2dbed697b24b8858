import RelayKit
import RelayTestSupport
import Synchronization
import Testing

/// The two kinds of credentials that are fetched.
enum CredentialKind: String, CaseIterable, Sendable {
    case program
    case endpoint
}

/// A service whose upstream takes only the newest token, and whoever gives those out.
final class TokenBench: Sendable {
    struct Refused: Error {}

    /// Moments of the fetches, and what each gives: a token, or a failure.
    let fetches = Mutex<[Instant]>([])
    let gives: @Sendable (Int) -> Bool
    /// The first generation that the upstream takes.
    let wanted = Mutex(1)
    let kind: CredentialKind
    private let built = Mutex<ServiceBench?>(nil)

    init(
        _ kind: CredentialKind,
        mode: VirtualTime.Mode = .manual,
        maxTimes: Int = 1,
        maxAttempts: Int = 10,
        rules: [RecoveryRule] = [],
        gives: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        self.kind = kind
        self.gives = gives
        var settings = OAuth2Settings(
            grant: .clientCredentials,
            endpoint: Upstream(name: "token", origin: .tcp(host: "login.example", port: 443, isTLS: true)),
            target: "/token",
            clientID: "shop"
        )
        settings.failureCooldown = .seconds(2)
        let custom = CustomCredential { [weak self] in
            guard let self, let number = fetched() else { throw Refused() }
            return AccessToken("t\(number)")
        }
        let definition = CredentialDefinition(
            name: "c",
            kind: kind == .program ? .custom(custom) : .oauth2(settings)
        )
        let bench = try ServiceBench(
            [],
            policy: {
                $0.authentication = Authentication(form: .bearer, credential: "c")
                $0.maxAttempts = maxAttempts
                $0.recovery = rules + [.reauthorize(maxTimes: maxTimes)]
            },
            mode: mode,
            credentials: [definition],
            answer: { [weak self] in self?.answer($0) ?? .answer(500) }
        )
        built.withLock { $0 = bench }
    }

    var bench: ServiceBench {
        guard let bench = built.withLock({ $0 }) else { preconditionFailure("the bench is not built yet") }
        return bench
    }

    private func fetched() -> Int? {
        let now = bench.time.now()
        let number = fetches.withLock { fetches in
            fetches.append(now)
            return fetches.count
        }
        return gives(number) ? number : nil
    }

    private func answer(_ request: OutboundRequest) -> ScriptedTransport.Step {
        if request.upstream.name == "token" {
            guard let number = fetched() else { return .answer(400, [], #"{"error":"invalid_client"}"#) }
            return .answer(200, [], #"{"access_token":"t\#(number)"}"#)
        }
        let wanted = wanted.withLock { $0 }
        let value = request.addedFields.pairs.first { $0.name == "Authorization" }?.value ?? ""
        return .answer((Int(value.dropFirst("Bearer t".count)) ?? 0) >= wanted ? 200 : 401)
    }

    func run() async -> JobOutcome<HTTPResponse> {
        await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
    }

    /// The number of requests that the upstream, not the token endpoint, was sent.
    var sends: Int { bench.transport.sent.count { $0.upstream.name != "token" } }
    var fetchCount: Int { fetches.withLock { $0.count } }
}

@Suite("A credential that many jobs of a program share", .runQueue, .timeLimit(.minutes(5)))
struct SharedCredentialTests {
    @Test(
        "A hundred jobs at once meet 401, one token is fetched, and all succeed",
        .clauses("N-01", "X-07"),
        arguments: CredentialKind.allCases
    )
    func oneFetch(kind: CredentialKind) async throws {
        let tokens = try TokenBench(kind)
        #expect(await tokens.run().source == .upstream)
        tokens.wanted.withLock { $0 = 2 }
        let outcomes = await withTaskGroup(of: JobOutcome<HTTPResponse>.self) { group in
            for _ in 0..<100 { group.addTask { await tokens.run() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 100 && outcomes.allSatisfy { $0.source == .upstream })
        #expect(tokens.fetchCount == 2)
        #expect(outcomes.contains { $0.recoveredBy == ["reauthorize"] })
    }

    @Test(
        "A fetch that fails tells every job the same, and none asks again before the cool-down is over",
        .clauses("N-02"),
        arguments: CredentialKind.allCases
    )
    func failed(kind: CredentialKind) async throws {
        let tokens = try TokenBench(kind) { $0 > 1 }
        let failures = await withTaskGroup(of: Failure?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    if case .failure(let failure) = await tokens.run().result { failure } else { nil }
                }
            }
            return await group.reduce(into: [Failure?]()) { $0.append($1) }
        }
        #expect(Set(failures.map { $0?.kind }) == [.credentialsFailed])
        #expect(Set(failures.map { $0?.detail }).count == 1 && failures.count == 20)
        if kind == .program { #expect(failures.allSatisfy { $0?.underlying is TokenBench.Refused }) }
        tokens.bench.time.advance(by: .nanoseconds(1_999_999_999))
        #expect(await tokens.run().source == nil)
        #expect(tokens.fetchCount == 1 && tokens.sends == 0)
        tokens.bench.time.advance(by: .nanoseconds(1))
        #expect(await tokens.run().source == .upstream)
        #expect(tokens.fetchCount == 2)
    }

    @Test("A token endpoint that answers 401 is not asked for a token for itself", .clauses("N-03"))
    func noRecursion() async throws {
        let tokens = try TokenBench(.endpoint)
        let transport = ScriptedTransport(time: tokens.bench.time) { _ in .answer(401) }
        let service = try RelayService(
            tokens.bench.service.policy,
            transport: transport,
            time: tokens.bench.time,
            entropy: SeededEntropy(),
            credentials: [
                CredentialDefinition(
                    name: "c",
                    kind: .oauth2(
                        OAuth2Settings(
                            grant: .clientCredentials,
                            endpoint: Upstream(name: "token", origin: .unix(path: "/t")),
                            target: "/token",
                            clientID: "shop"
                        )
                    )
                )
            ]
        )
        let failure = await #expect(throws: Failure.self) {
            try await service.execute(Request(.get, "x") as Request<HTTPResponse>)
        }
        #expect(failure?.kind == .credentialsFailed && failure?.detail.contains("401") == true)
        #expect(transport.sent.map(\.upstream.name) == ["token"])
    }

    @Test(
        "A job refused with an old token takes the new one that another fetched meanwhile",
        .clauses("N-04"),
        arguments: CredentialKind.allCases
    )
    func olderGeneration(kind: CredentialKind) async throws {
        let gate = Gate()
        // Both have been refused before either of them fetches.
        let tokens = try TokenBench(
            kind,
            rules: [
                .strategy(
                    Advice("wait") { _, _, _ in
                        await gate.pass()
                        return .passOn
                    },
                    on: [401]
                )
            ]
        )
        #expect(await tokens.run().source == .upstream)
        tokens.wanted.withLock { $0 = 2 }
        async let first = tokens.run()
        async let second = tokens.run()
        await untilIdle()
        gate.open()
        let both = await [first, second]
        #expect(both.allSatisfy { $0.source == .upstream && $0.attempts.count == 2 })
        #expect(tokens.fetchCount == 2 && tokens.sends == 5)
    }

    @Test(
        "Cancelling a job that waits for a token leaves the fetch to the others",
        .clauses("N-05"),
        arguments: [0, 1]
    )
    func cancelled(which: Int) async throws {
        let gate = Gate()
        let fetches = Mutex(0)
        let bench = try ServiceBench(
            [.answer(200)],
            policy: { $0.authentication = Authentication(form: .bearer, credential: "c") },
            mode: .manual,
            credentials: [
                CredentialDefinition(
                    name: "c",
                    kind: .custom(
                        CustomCredential {
                            fetches.withLock { $0 += 1 }
                            await gate.pass()
                            return AccessToken("t")
                        }
                    )
                )
            ]
        )
        let jobs = [0, 1].map { _ in
            Task { await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>) }
        }
        // Each waiting job and the fetch have a deadline to sleep towards.
        await untilIdle()
        jobs[which].cancel()
        let failure = await #expect(throws: Failure.self) { try await jobs[which].value.result.get() }
        #expect(failure?.kind == .cancelled)
        gate.open()
        #expect(await jobs[1 - which].value.source == .upstream)
        #expect(fetches.withLock { $0 } == 1 && bench.transport.sent.count == 1)
    }

    @Test(
        "No token is fetched for a job that has no attempt left",
        .clauses("X-12"),
        arguments: CredentialKind.allCases
    )
    func allowanceFirst(kind: CredentialKind) async throws {
        let tokens = try TokenBench(kind, maxAttempts: 1)
        tokens.wanted.withLock { $0 = 99 }
        let outcome = await tokens.run()
        let failure = #expect(throws: Failure.self) { try outcome.result.get() }
        #expect(failure?.status == 401 && tokens.fetchCount == 1 && tokens.sends == 1)
    }

    @Test(
        "A job fetches as often as its rule lets it, then the 401 is the caller's",
        arguments: CredentialKind.allCases
    )
    func maxTimes(kind: CredentialKind) async throws {
        let tokens = try TokenBench(kind, maxTimes: 3)
        tokens.wanted.withLock { $0 = 99 }
        let outcome = await tokens.run()
        #expect(outcome.attempts.count == 4 && tokens.fetchCount == 4)
        #expect(outcome.attempts.last?.status == 401 && outcome.source == nil)
    }
}

/// Holds whoever passes until it is opened.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, held: [CheckedContinuation<Void, Never>])>((false, []))

    var waiting: Int { state.withLock { $0.held.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let held = state.withLock { state in
            defer { state = (true, []) }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
