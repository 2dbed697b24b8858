import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute
import RelayTransport

/// Looks into the secrets that routes sign with, before a request needs them.
enum SigningSecrets {
    /// - Parameters:
    ///   - configuration: free of other errors.
    ///   - secrets: all that the configuration refers to.
    ///   - file: the configuration's name, for messages.
    /// - Returns: one error for each secret that nothing can be signed with.
    static func faults(
        _ configuration: Configuration,
        secrets: [SecretReference: Secret],
        file: String
    ) -> [Diagnostic] {
        configuration.routes.flatMap { route in
            let references = route.policy.signing?.secrets ?? []
            return references.enumerated().compactMap { index, reference -> Diagnostic? in
                guard let fault = OpenSSLSigner.fault(in: secrets[reference]) else { return nil }
                let tokens = ["routes", route.name, "signing", "secrets", "\(index)"]
                let pointer = JSONPointer(tokens: tokens).text
                let use = configuration.secrets.first { $0.pointer.text == pointer }
                return Diagnostic(
                    "the \(reference.text) cannot sign: \(fault)",
                    hint: "make a new one with: echo whsec_$(openssl rand -base64 32)",
                    file: file,
                    position: use?.position ?? JSONPosition(line: 1, column: 1),
                    pointer: pointer
                )
            }
        }
    }
}
