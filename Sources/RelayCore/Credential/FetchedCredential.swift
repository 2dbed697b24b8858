import RelayBase
import RelayRoute
import Synchronization

/// Drives one `CredentialMachine`: lock, ask, unlock, act.
final class FetchedCredential: Sendable {
    private typealias Waiter = Pending<Result<Token, Failure>>

    private struct State {
        var machine: CredentialMachine
        var waiters: [Waiter] = []
    }

    private let name: String
    private let source: any TokenSource
    private let state: Mutex<State>

    init(name: String, machine: CredentialMachine, source: any TokenSource) {
        self.name = name
        self.source = source
        state = Mutex(State(machine: machine))
    }

    /// Whether settings and secrets are the same, so that its token is as good as one the other would fetch.
    func isConfigured(like other: FetchedCredential) -> Bool { source.isConfigured(like: other.source) }

    func token(refused: UInt64?, ports: RelayPorts) async throws(Failure) -> Token {
        if let ready = readyToken(refused: refused, ports: ports) { return try ready.get() }
        return try await wait().get()
    }

    /// Nil means that a refresh is under way.
    func readyToken(refused: UInt64?, ports: RelayPorts) -> Result<Token, Failure>? {
        if source.isAskingItself { return .failure(FetchedCredential.asksItself(name)) }
        let action = state.withLock { $0.machine.tokenWanted(refused: refused, now: ports.time.now()) }
        switch action {
        case .use(let token): return .success(token)
        case .useAndRefresh(let token):
            _ = ports.start { await self.refresh(ports) }
            return .success(token)
        case .fail(let failure): return .failure(failure)
        case .refresh:
            // The refresh is nobody's child: cancelling the job that began it must not fail the others.
            _ = ports.start { await self.refresh(ports) }
            return nil
        case .wait: return nil
        }
    }

    /// The token, where it is in force until `end` and no refresh is due.
    func calmToken(_ now: Instant, until end: Instant) -> Token? {
        state.withLock { $0.machine.calmToken(now, until: end) }
    }

    /// The newest generation there was.
    var generation: UInt64 { state.withLock { $0.machine.generation } }

    var isRefreshing: Bool { state.withLock { $0.machine.isRefreshing } }

    /// The endpoint is asked by the next that needs a token.
    func endCooldown(_ now: Instant) { state.withLock { $0.machine.cooldownEnded(now) } }

    func state(of name: String, now: Instant) -> CredentialVault.State {
        state.withLock { state in
            let machine = state.machine
            let word: CredentialState =
                machine.isRefreshing
                ? .refreshing
                : machine.failure != nil ? .failing : machine.token == nil ? .notFetched : .valid
            return CredentialVault.State(
                name: name,
                condition: word,
                failingSince: machine.failingSince,
                expiresIn: machine.token?.expiresAt.map { now.duration(to: $0) },
                generation: machine.generation
            )
        }
    }

    private func wait() async -> Result<Token, Failure> {
        if Task.isCancelled { return .failure(FetchedCredential.gaveUp) }
        let waiter = Waiter()
        let ready: Result<Token, Failure>? = state.withLock { state in
            if state.machine.isRefreshing {
                state.waiters.append(waiter)
                return nil
            }
            // The refresh ended between the question and here.
            if let failure = state.machine.failure { return .failure(failure.failure) }
            return state.machine.token.map { .success($0) } ?? .failure(FetchedCredential.gaveUp)
        }
        if let ready { return ready }
        if let token = await waiter.valueUnlessCancelled() { return token }
        state.withLock { $0.waiters.removeAll { $0 === waiter } }
        return .failure(FetchedCredential.gaveUp)
    }

    private static func asksItself(_ name: String) -> Failure {
        Failure.credentialsFailed(
            "the credential \"\(name)\" is needed by the request that fetches it: fetch it without authentication"
        )
    }

    private static let gaveUp = Failure(
        .cancelled,
        sent: .neverSent,
        "the caller stopped waiting for the credential"
    )

    private func refresh(_ ports: RelayPorts) async {
        let result = await source.fetch(ports)
        let (outcome, waiters) = state.withLock { state -> (Result<Token, Failure>, [Waiter]) in
            let outcome: Result<Token, Failure>
            switch result {
            case .success(let grant):
                outcome = .success(
                    state.machine.refreshed(grant.token, expiresIn: grant.expiresIn, now: ports.time.now())
                )
            case .failure(let failure):
                state.machine.refreshFailed(failure, now: ports.time.now())
                outcome = .failure(failure)
            }
            defer { state.waiters = [] }
            return (outcome, state.waiters)
        }
        for waiter in waiters { waiter.give(outcome) }
        switch result {
        case .success(let grant):
            ports.sink.record(.credentialRefreshed(credential: name, expiresIn: grant.expiresIn))
        case .failure(let failure):
            ports.sink.record(.credentialFailed(credential: name, detail: failure.detail))
        }
    }
}
