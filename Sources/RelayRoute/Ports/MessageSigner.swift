package import RelayBase

/// Signs with secrets it alone knows.
package protocol MessageSigner: AnyObject, Sendable {
    /// The signatures of `message`, one for each secret: `v1,BASE64` for HMAC-SHA256, `v1a,BASE64` for ed25519,
    /// separated by blanks (Standard Webhooks).
    ///
    /// - Throws: `preparation` for a secret that is missing or no key.
    func signatures(of message: [UInt8], with settings: SigningSettings) throws(Failure) -> String
}
