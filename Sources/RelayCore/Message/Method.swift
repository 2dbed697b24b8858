/// A request method (RFC 9110 §9).
///
/// The value is case-sensitive and always a token; the parsers refuse anything else.
public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The method as it stands in the request line.
    public let rawValue: String

    /// Takes a method as it is; the caller knows it to be a token.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Takes a method as it is written in the source.
    public init(stringLiteral value: String) { rawValue = value }

    /// GET (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let get: Method = "GET"
    /// HEAD (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let head: Method = "HEAD"
    /// POST (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let post: Method = "POST"
    /// PUT (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let put: Method = "PUT"
    /// DELETE (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let delete: Method = "DELETE"
    /// PATCH (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let patch: Method = "PATCH"
    /// OPTIONS (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let options: Method = "OPTIONS"
    /// TRACE (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let trace: Method = "TRACE"
    /// CONNECT (RFC 9110 §9.3; PATCH: RFC 5789).
    public static let connect: Method = "CONNECT"

    /// Whether repeating the request has the effect of sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch rawValue {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }
}
