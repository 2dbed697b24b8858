/// The keys an upstream's certificate chain must hold one of, on top of ordinary verification (the idea of RFC 7469).
///
/// A key is named by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4), so a certificate may be renewed with
/// the same key. Pins never replace verification: a chain the authorities do not vouch for is refused first.
public struct PublicKeyPins: Hashable, Sendable {
    /// The host the pins are for, in lower case; nil means every host of the route.
    public var host: String?
    /// SHA-256 digests of SubjectPublicKeyInfo, 32 bytes each; the chain must hold one of these keys.
    ///
    /// Enforced pins need at least two, one of them the key of a certificate not in use: with only one a lost key
    /// makes the upstream unreachable.
    public var keys: [[UInt8]]
    /// Whether hosts below `host`, by whole labels, are pinned too; `evil-example.com` is not below `example.com`.
    public var includesSubdomains = false
    /// False reports a mismatch and goes on.
    public var isEnforced = true
    /// When the pins stop to count, in seconds since 1970; nil means never.
    public var until: Int64?

    /// Takes digests of 32 bytes each.
    public init(keys: [[UInt8]], host: String? = nil) {
        self.keys = keys
        self.host = host?.lowercased()
    }

    /// What is to be done about a connection whose chain was verified.
    public enum Verdict: Sendable, Equatable {
        /// The pins are not for that host, or no longer count.
        case notPinned
        case allow
        /// The chain holds none of the keys, and the pins only report.
        case report
        /// The chain holds none of the keys: no byte of a request may be sent.
        case block
    }

    /// Judges a verified chain.
    ///
    /// - Parameters:
    ///   - name: the host that was asked for, in lower case, without a dot at its end.
    ///   - chain: SHA-256 of each certificate's SubjectPublicKeyInfo.
    ///   - wallSeconds: seconds since 1970.
    public func verdict(host name: String, chain: [[UInt8]], wallSeconds: Int64) -> Verdict {
        guard applies(to: name), until.map({ wallSeconds < $0 }) ?? true else { return .notPinned }
        if chain.contains(where: keys.contains) { return .allow }
        return isEnforced ? .block : .report
    }

    /// Whether the pins are for `name`; labels are compared whole.
    public func applies(to name: String) -> Bool {
        guard let host else { return true }
        if name == host { return true }
        return includesSubdomains && name.hasSuffix("." + host)
    }
}
