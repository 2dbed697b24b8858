/// A request method (RFC 9110 §9).
///
/// The value is case-sensitive and always a token; the parsers refuse anything else.
public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let get: Method = "GET"
    public static let head: Method = "HEAD"
    public static let post: Method = "POST"
    public static let put: Method = "PUT"
    public static let delete: Method = "DELETE"
    public static let patch: Method = "PATCH"
    public static let options: Method = "OPTIONS"
    public static let trace: Method = "TRACE"
    public static let connect: Method = "CONNECT"

    /// Whether repeating the request has the effect of sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch rawValue {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }
}
