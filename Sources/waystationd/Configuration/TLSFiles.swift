import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute
import RelayTransport

/// Looks into the certificates and keys that a configuration names, before a request needs them.
enum TLSFiles {
    /// - Parameters:
    ///   - configuration: free of other errors.
    ///   - secrets: all that the configuration refers to.
    ///   - file: the configuration's name, for messages.
    /// - Returns: one error for each route or credential whose settings no connection can be made with.
    static func faults(
        _ configuration: Configuration,
        secrets: [SecretReference: Secret],
        file: String
    ) -> [Diagnostic] {
        // Equal settings name the same files, which are read once; the default ones name none.
        var verdicts: [TLSSettings: String?] = [TLSSettings(): nil]
        func fault(_ settings: TLSSettings) -> String? {
            if let verdict = verdicts[settings] { return verdict }
            let verdict = TLSTrust.check(settings) { secrets[$0] }
            verdicts[settings] = .some(verdict)
            return verdict
        }
        var diagnostics: [Diagnostic] = []
        for route in configuration.routes {
            for message in distinct(route.policy.upstreams.compactMap { fault($0.tls) }) {
                diagnostics.append(diagnostic(message, ["routes", route.name, "tls"], file))
            }
        }
        for credential in configuration.credentials {
            // A route's own credential has the settings of the route, which have been looked at.
            guard case .oauth2(let settings) = credential.kind, !credential.name.hasPrefix("route:"),
                let message = fault(settings.endpoint.tls)
            else { continue }
            diagnostics.append(diagnostic(message, ["credentials", credential.name], file))
        }
        return diagnostics
    }

    private static func distinct(_ messages: [String]) -> [String] {
        var seen: Set<String> = []
        return messages.filter { seen.insert($0).inserted }
    }

    private static func diagnostic(_ message: String, _ place: [String], _ file: String) -> Diagnostic {
        Diagnostic(
            message,
            hint: "look at the file, or name another",
            file: file,
            pointer: JSONPointer(tokens: place).text
        )
    }
}
