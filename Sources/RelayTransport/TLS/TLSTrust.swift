package import RelayBase
package import RelayRoute

/// Finds before the first connection what would keep TLS connections from being made.
package enum TLSTrust {
    /// Loads the certificates and keys that the settings name, and lets them go again.
    ///
    /// - Parameters:
    ///   - settings: what connections are to be made with.
    ///   - secrets: reads a client certificate or key.
    /// - Returns: what cannot be loaded, by name, never its content; nil when nothing is wrong.
    package static func check(
        _ settings: TLSSettings,
        secrets: (SecretReference) -> Secret?
    ) -> String? {
        do throws(Failure) {
            _ = try TLSContext(settings, secrets: secrets)
            return nil
        } catch {
            return error.detail
        }
    }
}
