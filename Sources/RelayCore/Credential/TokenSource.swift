import RelayBase
import RelayJobs
import RelayRoute
import Synchronization

/// Where the values of one fetched credential come from.
protocol TokenSource: AnyObject, Sendable {
    /// Asks once, within the source's own timeout.
    func fetch(_ ports: RelayPorts) async -> Result<TokenExchange.Grant, Failure>

    /// Whether the task that asks is itself part of a fetch from this source, which would then wait for itself.
    var isAskingItself: Bool { get }

    /// Whether the other source would give a value as good as this one's.
    func isConfigured(like other: any TokenSource) -> Bool
}

extension TokenSource {
    var isAskingItself: Bool { false }
}

/// A token endpoint (RFC 6749).
final class OAuth2TokenSource: TokenSource {
    private let exchange: TokenExchange
    private let clientSecret: Secret?
    /// The configured one, with which everything begins.
    private let firstRefreshToken: Secret?
    private let missing: SecretReference?
    private let owner: RefreshTokenOwner
    private let keeper: (any RefreshTokenKeeper)?
    private let refreshToken: Mutex<RefreshToken>

    private struct RefreshToken {
        var secret: Secret?
        /// Whether it is on disk, where somebody keeps it: until then it is not used.
        var isKept = true
    }

    init(
        _ name: String,
        _ settings: OAuth2Settings,
        secrets: [SecretReference: Secret],
        keeper: (any RefreshTokenKeeper)?
    ) {
        self.keeper = keeper
        var resolved = settings
        resolved.request = settings.request.resolved(secrets)
        exchange = TokenExchange(settings: resolved)
        clientSecret = settings.clientSecret.flatMap { secrets[$0] }
        var needed = settings.clientSecret.map { [$0] } ?? []
        var first: Secret?
        if case .refreshToken(let reference) = settings.grant {
            needed.append(reference)
            first = secrets[reference]
        }
        needed += settings.request.references
        firstRefreshToken = first
        missing = needed.first { secrets[$0] == nil }
        owner = RefreshTokenOwner(
            credential: name,
            configuration: Secret(
                Array("\(settings.endpoint.origin.text)\(settings.target)\n\(settings.clientID)\n".utf8)
                    + (first?.bytes ?? [])
            )
        )
        // Nothing is exchanged for a token but a refresh token that was configured.
        let kept = first == nil ? nil : keeper?.token(of: owner)
        refreshToken = Mutex(RefreshToken(secret: kept ?? first))
    }

    /// How long a token waits for the disk.
    private static let diskTimeout: Duration = .seconds(1)

    /// Puts the last refresh token on disk where that is still to be done; goes on with it when the time is over.
    private func keep(_ ports: RelayPorts) async throws(StoreError) {
        guard keeper != nil, refreshToken.withLock({ !$0.isKept }) else { return }
        let pending = ports.begin { [self] in
            await Result { () async throws(StoreError) in try await keepNow() }
        }
        let deadline = ports.time.now().advanced(by: OAuth2TokenSource.diskTimeout)
        guard let outcome = await ports.wait(for: pending, by: deadline) else {
            let diskTimeout = DurationText.text(OAuth2TokenSource.diskTimeout)
            throw StoreError(.slow, "the disk has not answered for \(diskTimeout)")
        }
        try outcome.get()
    }

    private func keepNow() async throws(StoreError) {
        let now = refreshToken.withLock { $0 }
        guard let keeper, !now.isKept, let secret = now.secret else { return }
        try await keeper.keep(secret, of: owner)
        refreshToken.withLock { $0.isKept = $0.secret == secret }
    }

    func isConfigured(like other: any TokenSource) -> Bool {
        guard let other = other as? OAuth2TokenSource else { return false }
        return exchange.settings == other.exchange.settings && clientSecret == other.clientSecret
            && firstRefreshToken == other.firstRefreshToken && missing == other.missing
    }

    func fetch(_ ports: RelayPorts) async -> Result<TokenExchange.Grant, Failure> {
        if let missing {
            return .failure(exchange.failure("was not asked: \(missing.text) could not be read"))
        }
        if let name = exchange.settings.request.unusableField {
            return .failure(
                exchange.failure("was not asked: the secret for \(name) is none that a header can have")
            )
        }
        do throws(StoreError) {
            try await keep(ports)
        } catch {
            let what =
                "was not asked: the refresh token that it gave last is not on disk yet: \(error.message)"
            return .failure(exchange.failure(what))
        }
        let request = exchange.request(
            clientSecret: clientSecret,
            refreshToken: refreshToken.withLock { $0.secret },
            now: ports.time.now()
        )
        do throws(Failure) {
            let answer = try await ports.transport.send(request).response
            if case .stream(let source) = answer.body { source.bound(by: request.deadline) }
            let body = try await answer.body.collect(limit: TokenExchange.answerLimit)
            let grant = try exchange.grant(status: answer.status, body: body)
            if let rotated = grant.refreshToken, case .refreshToken = exchange.settings.grant {
                refreshToken.withLock { $0 = RefreshToken(secret: rotated, isKept: keeper == nil) }
                // The access token is good whatever the disk says; before the refresh token is used, it is asked again.
                try? await keep(ports)
            }
            return .success(grant)
        } catch {
            if error.kind == .credentialsFailed { return .failure(error) }
            return .failure(exchange.failure("could not be asked: \(error.kind.rawValue): \(error.detail)"))
        }
    }
}

/// A program's own way to a token.
final class ProgramTokenSource: TokenSource {
    private let credential: CustomCredential

    init(_ credential: CustomCredential) { self.credential = credential }

    func isConfigured(like other: any TokenSource) -> Bool { self === other }

    /// The sources whose fetches the task is part of.
    @TaskLocal private static var fetching: [ObjectIdentifier] = []

    var isAskingItself: Bool { ProgramTokenSource.fetching.contains(ObjectIdentifier(self)) }

    func fetch(_ ports: RelayPorts) async -> Result<TokenExchange.Grant, Failure> {
        let deadline = ports.time.now().advanced(by: credential.timeout)
        let fetched = await bounding(at: deadline, ports.time) {
            [fetch = credential.fetch] () -> Result<TokenExchange.Grant, Failure> in
            do {
                let token = try await ProgramTokenSource.$fetching.withValue(
                    ProgramTokenSource.fetching + [ObjectIdentifier(self)]
                ) { try await fetch() }
                return .success(
                    TokenExchange.Grant(token: token.secret, expiresIn: token.expiresIn, refreshToken: nil)
                )
            } catch {
                let own = error as? Failure
                var failure = Failure.credentialsFailed(
                    "the program could not fetch the credential: \(own?.description ?? "\(type(of: error))")"
                )
                failure.underlying = own?.underlying ?? error
                return .failure(failure)
            }
        }
        return fetched
            ?? .failure(
                Failure.credentialsFailed("the program did not fetch the credential in time")
            )
    }
}
