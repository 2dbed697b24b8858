package import RelayBase

/// The owner of a refresh token: one that was rotated is of use only to the configuration it came from.
package struct RefreshTokenOwner: Sendable {
    /// The credential's name.
    package var credential: String
    /// The settings a kept token depends on: endpoint, client and the configured refresh token, one behind the other.
    package var configuration: Secret

    package init(credential: String, configuration: Secret) {
        self.credential = credential
        self.configuration = configuration
    }
}

/// Keeps refresh tokens that an endpoint gave in the place of others, over the end of the process.
///
/// An endpoint that rotates takes each of them once: whoever forgets the last one in a crash is locked out.
package protocol RefreshTokenKeeper: AnyObject, Sendable {
    /// The one that was kept last for that configuration.
    func token(of owner: RefreshTokenOwner) -> Secret?

    /// Returns once it is on disk.
    func keep(_ token: Secret, of owner: RefreshTokenOwner) async throws(StoreError)
}
