/// Where a secret is kept; the configuration holds only this.
public enum SecretReference: Hashable, Sendable {
    /// A file of that name in `$CREDENTIALS_DIRECTORY` (systemd's LoadCredential=).
    case credential(String)
    /// A file no group member and no other user may read.
    case file(String)
    /// An environment variable; visible to whoever may read the process.
    case environment(String)

    /// For messages: where to look, never what is there.
    package var text: String {
        switch self {
        case .credential(let name): "credential \"\(name)\""
        case .file(let path): "file \(path)"
        case .environment(let name): "environment variable \(name)"
        }
    }
}

/// A secret in memory; prints as `(secret)` wherever it ends up.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The secret itself.
    public let bytes: [UInt8]

    /// Keeps those bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// Keeps that text in UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The secret as text; bytes that are no UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    /// Nil when the secret is not UTF-8.
    package var validText: String? { String(validating: bytes, as: UTF8.self) }
    /// `(secret)`.
    public var description: String { "(secret)" }
    /// `(secret)`.
    public var debugDescription: String { "(secret)" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
