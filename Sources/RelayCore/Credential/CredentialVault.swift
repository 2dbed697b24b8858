package import RelayBase
package import RelayJobs
package import RelayRoute

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
    /// token the endpoint gave last. Without a `keeper` that is forgotten with the process.
    package init(
        _ definitions: [CredentialDefinition],
        secrets: [SecretReference: Secret],
        replacing previous: CredentialVault? = nil,
        keeper: (any RefreshTokenKeeper)? = nil
    ) {
        var sources: [String: Source] = [:]
        for definition in definitions {
            var generation: UInt64 = 0
            if case .fetched(let old) = previous?.sources[definition.name] { generation = old.generation }
            switch definition.kind {
            case .fixed(let reference):
                guard let secret = secrets[reference] else { continue }
                sources[definition.name] = .fixed(Token(secret: secret, generation: 0, expiresAt: nil))
            case .oauth2(let settings):
                let new = FetchedCredential(
                    name: definition.name,
                    machine: CredentialMachine(settings: settings, after: generation),
                    source: OAuth2TokenSource(definition.name, settings, secrets: secrets, keeper: keeper)
                )
                if case .fetched(let old) = previous?.sources[definition.name], old.isConfigured(like: new) {
                    sources[definition.name] = .fetched(old)
                } else {
                    sources[definition.name] = .fetched(new)
                }
            case .custom(let credential):
                let machine = CredentialMachine(
                    refreshBeforeExpiry: credential.refreshBeforeExpiry,
                    failureCooldown: credential.failureCooldown,
                    after: generation
                )
                let source = ProgramTokenSource(credential)
                sources[definition.name] = .fetched(
                    FetchedCredential(name: definition.name, machine: machine, source: source)
                )
            }
        }
        self.sources = sources
    }

    /// Whether asking again can give another value.
    package func canRefresh(_ name: String) -> Bool {
        if case .fetched = sources[name] { true } else { false }
    }

    /// The token or the failure that is known at once; nil when the credential has to be fetched or waited for.
    package func readyToken(_ name: String, refused: UInt64?, ports: RelayPorts) -> Result<Token, Failure>? {
        switch sources[name] {
        case .fixed(let token): .success(token)
        case .fetched(let credential): credential.readyToken(refused: refused, ports: ports)
        case nil: .failure(unreadable(name))
        }
    }

    /// The credential's value, where it is in force until `end` and nothing is to be done about it.
    package func calmToken(_ name: String, _ now: Instant, until end: Instant) -> Token? {
        switch sources[name] {
        case .fixed(let token): token
        case .fetched(let credential): credential.calmToken(now, until: end)
        case nil: nil
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

    /// The same, asked for anew though the endpoint has failed a moment ago: an operator has mended something.
    package func tokenAskedAnew(_ name: String, ports: RelayPorts) async throws(Failure) -> Token {
        if case .fetched(let credential) = sources[name] { credential.endCooldown(ports.time.now()) }
        return try await token(name, refused: nil, ports: ports)
    }

    /// Credentials that are being fetched: an endpoint may have taken the refresh token already, and only its answer names
    /// the next.
    package var refreshes: Int {
        sources.values.count {
            guard case .fetched(let credential) = $0 else { return false }
            return credential.isRefreshing
        }
    }

    /// How a fetched credential is doing, for status.
    package struct State: Sendable {
        package let name: String
        package var condition: CredentialState
        /// Also while it is fetched once more.
        package let failingSince: Instant?
        package let expiresIn: Duration?
        /// Of its newest token; 0 before the first.
        package let generation: UInt64
    }

    /// The fetched credentials by their names; none is `refused`, which only the routes know.
    package func states(now: Instant) -> [State] {
        sources.sorted { $0.key < $1.key }.compactMap { name, source in
            guard case .fetched(let credential) = source else { return nil }
            return credential.state(of: name, now: now)
        }
    }
}
