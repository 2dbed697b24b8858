import Synchronization

/// Every credential of one configuration.
///
/// Routes share it: a 401 met by many jobs is one refresh.
package final class CredentialVault: Sendable {
    private let sources: [String: Source]

    private enum Source: Sendable {
        case fixed(Token)
        case fetched(FetchedCredential)
    }

    /// Takes the definitions and what their references resolved to; one that resolved to nothing makes its credential
    /// fail.
    ///
    /// A credential that is the same in `previous`, the vault this one replaces, keeps its token and whatever refresh
    /// token the endpoint gave last.
    package init(
        _ definitions: [CredentialDefinition],
        secrets: [SecretReference: Secret],
        replacing previous: CredentialVault? = nil
    ) {
        var sources: [String: Source] = [:]
        for definition in definitions {
            switch definition.kind {
            case .fixed(let reference):
                guard let secret = secrets[reference] else { continue }
                sources[definition.name] = .fixed(Token(secret: secret, generation: 0, expiresAt: nil))
            case .oauth2(let settings):
                let new = FetchedCredential(name: definition.name, settings: settings, secrets: secrets)
                if case .fetched(let old) = previous?.sources[definition.name], old.isConfigured(like: new) {
                    sources[definition.name] = .fetched(old)
                } else {
                    sources[definition.name] = .fetched(new)
                }
            }
        }
        self.sources = sources
    }

    /// Whether asking again can give another value.
    package func canRefresh(_ name: String) -> Bool {
        if case .fetched = sources[name] { true } else { false }
    }

    /// What can be said at once; nil when the credential has to be fetched or waited for.
    package func readyToken(_ name: String, refused: UInt64?, ports: RelayPorts) -> Result<Token, Failure>? {
        switch sources[name] {
        case .fixed(let token): .success(token)
        case .fetched(let credential): credential.readyToken(refused: refused, ports: ports)
        case nil: .failure(unreadable(name))
        }
    }

    private func unreadable(_ name: String) -> Failure {
        Failure(.credentialsFailed, sent: .neverSent, "the credential \"\(name)\" could not be read")
    }

    /// The credential's value, fetched where it must be.
    ///
    /// `refused` is the generation an upstream has just refused; nil when any valid one will do.
    ///
    /// - Throws: `credentials_failed`, or `cancelled`.
    package func token(_ name: String, refused: UInt64?, ports: RelayPorts) async throws(Failure) -> Token {
        switch sources[name] {
        case .fixed(let token): return token
        case .fetched(let credential): return try await credential.token(refused: refused, ports: ports)
        case nil: throw unreadable(name)
        }
    }

    /// Name and state of every fetched credential, for status.
    package func states(now: Instant) -> [(name: String, state: String, expiresIn: Duration?)] {
        sources.sorted { $0.key < $1.key }.compactMap { name, source in
            guard case .fetched(let credential) = source else { return nil }
            let (state, expiresIn) = credential.state(now: now)
            return (name, state, expiresIn)
        }
    }
}

/// Drives one `CredentialMachine`: lock, ask, unlock, act.
private final class FetchedCredential: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Token, Failure>, Never>

    private struct State {
        var machine: CredentialMachine
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        var refreshToken: Secret?
    }

    private let name: String
    private let exchange: TokenExchange
    private let clientSecret: Secret?
    /// The configured one, with which everything begins.
    private let firstRefreshToken: Secret?
    private let missing: SecretReference?
    private let state: Mutex<State>

    init(name: String, settings: OAuth2Settings, secrets: [SecretReference: Secret]) {
        self.name = name
        exchange = TokenExchange(settings: settings)
        clientSecret = settings.clientSecret.flatMap { secrets[$0] }
        var needed = settings.clientSecret.map { [$0] } ?? []
        var refreshToken: Secret?
        if case .refreshToken(let reference) = settings.grant {
            needed.append(reference)
            refreshToken = secrets[reference]
        }
        firstRefreshToken = refreshToken
        missing = needed.first { secrets[$0] == nil }
        state = Mutex(State(machine: CredentialMachine(settings: settings), refreshToken: refreshToken))
    }

    /// Whether settings and secrets are the same, so that its token is as good as one the other would fetch.
    func isConfigured(like other: FetchedCredential) -> Bool {
        exchange.settings == other.exchange.settings && clientSecret == other.clientSecret
            && firstRefreshToken == other.firstRefreshToken && missing == other.missing
    }

    func token(refused: UInt64?, ports: RelayPorts) async throws(Failure) -> Token {
        if let ready = readyToken(refused: refused, ports: ports) { return try ready.get() }
        return try await wait().get()
    }

    /// Nil means that a refresh is under way.
    func readyToken(refused: UInt64?, ports: RelayPorts) -> Result<Token, Failure>? {
        let action = state.withLock { $0.machine.tokenWanted(refused: refused, now: ports.time.now()) }
        switch action {
        case .use(let token): return .success(token)
        case .useAndRefresh(let token):
            ports.start { await self.refresh(ports) }
            return .success(token)
        case .fail(let failure): return .failure(failure)
        case .refresh:
            // The refresh is nobody's child: cancelling the job that began it must not fail the others.
            ports.start { await self.refresh(ports) }
            return nil
        case .wait: return nil
        }
    }

    func state(now: Instant) -> (String, Duration?) {
        state.withLock { state in
            let left = state.machine.token?.expiresAt.map { now.duration(to: $0) }
            if state.machine.isRefreshing { return ("refreshing", left) }
            if state.machine.failure != nil { return ("failing", left) }
            return (state.machine.token == nil ? "not_fetched" : "valid", left)
        }
    }

    private func wait() async -> Result<Token, Failure> {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Waiter) in
                let now: Result<Token, Failure>? = state.withLock { state in
                    if Task.isCancelled { return .failure(FetchedCredential.gaveUp) }
                    if state.machine.isRefreshing {
                        state.waiters[id] = continuation
                        return nil
                    }
                    // The refresh ended between the question and here.
                    if let failure = state.machine.failure { return .failure(failure.failure) }
                    return state.machine.token.map { .success($0) } ?? .failure(FetchedCredential.gaveUp)
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(returning: .failure(FetchedCredential.gaveUp))
        }
    }

    private static let gaveUp = Failure(
        .cancelled,
        sent: .neverSent,
        "the caller stopped waiting for the credential"
    )

    private func refresh(_ ports: RelayPorts) async {
        let result = await fetch(ports)
        let (outcome, waiters) = state.withLock { state -> (Result<Token, Failure>, [Waiter]) in
            let outcome: Result<Token, Failure>
            switch result {
            case .success(let grant):
                if let rotated = grant.refreshToken { state.refreshToken = rotated }
                outcome = .success(
                    state.machine.refreshed(grant.token, expiresIn: grant.expiresIn, now: ports.time.now())
                )
            case .failure(let failure):
                state.machine.refreshFailed(failure, now: ports.time.now())
                outcome = .failure(failure)
            }
            defer { state.waiters = [:] }
            return (outcome, Array(state.waiters.values))
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
        switch result {
        case .success(let grant):
            ports.sink.record(.credentialRefreshed(credential: name, expiresIn: grant.expiresIn))
        case .failure(let failure):
            ports.sink.record(.credentialFailed(credential: name, detail: failure.detail))
        }
    }

    private func fetch(_ ports: RelayPorts) async -> Result<TokenExchange.Grant, Failure> {
        if let missing {
            return .failure(exchange.failure("was not asked: \(missing.text) could not be read"))
        }
        let refreshToken = state.withLock { $0.refreshToken }
        let request = exchange.request(
            clientSecret: clientSecret,
            refreshToken: refreshToken,
            now: ports.time.now()
        )
        do throws(Failure) {
            let answer = try await ports.transport.send(request).response
            if case .stream(let source) = answer.body { source.bound(by: request.deadline) }
            let body = try await answer.body.collect(limit: TokenExchange.answerLimit)
            return .success(try exchange.grant(status: answer.status, body: body))
        } catch {
            if error.kind == .credentialsFailed { return .failure(error) }
            return .failure(exchange.failure("could not be asked: \(error.kind.rawValue): \(error.detail)"))
        }
    }
}
