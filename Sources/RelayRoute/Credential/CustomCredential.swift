public import RelayBase

/// A credential that a program fetches itself, with all the care of one the relay fetches: one fetch at a time, one for
/// each refused token, failures remembered, replaced before it expires.
public struct CustomCredential: Sendable {
    /// Asks for a token; what it throws is told to every job that waits for it.
    public var fetch: @Sendable () async throws -> AccessToken
    /// How long before its expiry a token is replaced while it is still being used; 60 s unless set.
    public var refreshBeforeExpiry: Duration = .seconds(60)
    /// How long a failed fetch is remembered: jobs that need the token meanwhile fail with the same error; 2 s unless
    /// set.
    public var failureCooldown: Duration = .seconds(2)
    /// How long one fetch may take; 10 s unless set.
    public var timeout: Duration = .seconds(10)

    /// A credential that `fetch` gets.
    public init(fetch: @escaping @Sendable () async throws -> AccessToken) { self.fetch = fetch }
}

/// The result of a fetch.
public struct AccessToken: Sendable {
    /// The token; never printed.
    public var secret: Secret
    /// How long it is valid, counted from its arrival; nil means until it is refused.
    public var expiresIn: Duration?

    /// A token and its lifetime.
    public init(_ text: String, expiresIn: Duration? = nil) {
        secret = Secret(text)
        self.expiresIn = expiresIn
    }
}

extension CredentialDefinition {
    /// A credential that a program fetches itself, as ``CustomCredential`` does with its defaults.
    ///
    /// - Parameters:
    ///   - name: what ``Authentication/credential`` calls it.
    ///   - fetch: asks for a token; what it throws is told to every job that waits for it.
    public init(_ name: String, fetch: @escaping @Sendable () async throws -> AccessToken) {
        self.init(name: name, kind: .custom(CustomCredential(fetch: fetch)))
    }
}
