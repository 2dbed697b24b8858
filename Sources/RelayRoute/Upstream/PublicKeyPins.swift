/// The keys an upstream's certificate chain must hold one of, on top of ordinary verification (the idea of RFC 7469).
///
/// A key is named by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4), so a certificate may be renewed with
/// the same key. Pins never replace verification: a chain the authorities do not vouch for is refused first. The
/// key of any certificate in the verified chain may be pinned: the host's own, an intermediate's, the authority's.
///
/// The digest of the key in a certificate, in Base64, is computed by
///
/// ```
/// openssl x509 -in certificate.pem -noout -pubkey |
///     openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
///
/// and of a backup key that has no certificate yet by
///
/// ```
/// openssl pkey -in backup.key -pubout -outform der | openssl dgst -sha256 -binary | base64
/// ```
///
/// The certificate a host shows is written by
/// `openssl s_client -connect host:443 -servername host < /dev/null | openssl x509 -out certificate.pem`.
public struct PublicKeyPins: Hashable, Sendable {
    /// The host the pins are for; nil means every host of the route.
    ///
    /// An address is compared as it is written.
    public var host: String?
    /// SHA-256 digests of SubjectPublicKeyInfo, 32 bytes each; the chain must hold one of these keys.
    ///
    /// Enforced pins need at least two, one of them the key of a certificate not in use: with only one a lost key
    /// makes the upstream unreachable. Without keys no chain matches, and a digest of another length
    /// matches none.
    public var keys: [[UInt8]]
    /// Whether hosts below `host`, by whole labels, are pinned too; `evil-example.com` is not below `example.com`.
    ///
    /// Nothing is below an address.
    public var includesSubdomains = false
    /// False reports a mismatch and goes on.
    public var isEnforced = true
    /// When the pins stop to count, in seconds since 1970; nil means never.
    public var until: Int64?

    /// Takes digests of 32 bytes each.
    public init(keys: [[UInt8]], host: String? = nil) {
        self.keys = keys
        self.host = host
    }

    /// The verdict on a connection whose chain was verified.
    package enum Verdict: Sendable, Equatable {
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
    ///   - name: the host that was asked for.
    ///   - chain: SHA-256 of each certificate's SubjectPublicKeyInfo; of the chain as it was verified, not as it
    ///     was sent.
    ///   - wallSeconds: seconds since 1970.
    /// - Returns: what is to be done about the connection.
    package func verdict(host name: String, chain: [[UInt8]], wallSeconds: Int64) -> Verdict {
        guard applies(to: name), until.map({ wallSeconds < $0 }) ?? true else { return .notPinned }
        if chain.contains(where: { $0.count == 32 && keys.contains($0) }) { return .allow }
        return isEnforced ? .block : .report
    }

    /// Whether the pins are for `name`; labels are compared whole, without regard to case or a dot at the end.
    package func applies(to name: String) -> Bool {
        guard let host else { return true }
        let asked = Self.labels(name)
        let pinned = Self.labels(host)
        if asked == pinned { return true }
        guard includesSubdomains, asked.count > pinned.count, !Self.isAddress(asked) else { return false }
        return asked.suffix(pinned.count) == pinned[...]
    }

    private static func labels(_ name: String) -> [Substring] {
        let name = name.lowercased()
        let end = name.last == "." ? name.dropLast() : name[...]
        return end.split(separator: ".", omittingEmptySubsequences: false)
    }

    /// No top-level domain consists of digits (RFC 3696 §2).
    private static func isAddress(_ labels: [Substring]) -> Bool {
        labels.last?.utf8.allSatisfy { (0x30...0x39).contains($0) } ?? false
    }
}
