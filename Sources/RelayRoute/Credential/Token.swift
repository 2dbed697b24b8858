package import RelayBase

/// A credential's value as it goes into a request.
package struct Token: Sendable {
    package let secret: Secret
    /// Counts the values of one credential; a refused generation is replaced at most once.
    package let generation: UInt64
    /// When it stops being valid; nil when the issuer did not say.
    package let expiresAt: Instant?

    package init(secret: Secret, generation: UInt64, expiresAt: Instant?) {
        self.secret = secret
        self.generation = generation
        self.expiresAt = expiresAt
    }
}

/// How a credential is doing, in one word.
package enum CredentialState: String, CaseIterable, Sendable {
    case notFetched = "not_fetched"
    case valid
    case refreshing
    case failing
    /// An upstream refused a token that had just been fetched.
    case refused
}
