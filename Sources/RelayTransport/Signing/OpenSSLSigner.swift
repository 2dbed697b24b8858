package import RelayBase
package import RelayRoute

/// Signs messages as Standard Webhooks 1.0.0 has it, with OpenSSL.
///
/// Secrets are read anew for every message, so that a replaced one counts at once.
package final class OpenSSLSigner: MessageSigner {
    private let secrets: @Sendable (SecretReference) -> Secret?

    /// - Parameter secrets: reads a secret; called wherever a message is signed, so it must answer at once.
    package init(secrets: @escaping @Sendable (SecretReference) -> Secret?) { self.secrets = secrets }

    /// Tries a secret.
    ///
    /// - Returns: why nothing can be signed with it, without a byte of it; nil when something can.
    package static func fault(in secret: Secret?) -> String? {
        do throws(SigningKey.Problem) {
            guard let secret else { throw .missing }
            _ = try SigningKey(secret).signature(of: [])
            return nil
        } catch {
            return error.text
        }
    }

    package func signatures(
        of message: [UInt8],
        with settings: SigningSettings
    ) throws(Failure) -> String {
        var signatures: [String] = []
        for reference in settings.secrets {
            do throws(SigningKey.Problem) {
                guard let secret = secrets(reference) else { throw .missing }
                let key = try SigningKey(secret)
                signatures.append("\(key.version),\(base64(try key.signature(of: message)))")
            } catch {
                throw .preparation("cannot sign with the \(reference.text): \(error.text)")
            }
        }
        guard !signatures.isEmpty else {
            throw .preparation("the route signs its requests and names no secret: give it one")
        }
        return signatures.joined(separator: " ")
    }
}
