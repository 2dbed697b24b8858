/// How a credential is doing, in one word.
package enum CredentialState: String, CaseIterable, Sendable {
    case notFetched = "not_fetched"
    case valid
    case refreshing
    case failing
    /// An upstream refused a token that had just been fetched.
    case refused
}
