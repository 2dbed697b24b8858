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

    /// Asks for a representation (RFC 9110 §9.3.1).
    public static let get: Method = "GET"
    /// Asks for the fields GET would give (RFC 9110 §9.3.2).
    public static let head: Method = "HEAD"
    /// Has the target act on the content (RFC 9110 §9.3.3).
    public static let post: Method = "POST"
    /// Replaces the target with the content (RFC 9110 §9.3.4).
    public static let put: Method = "PUT"
    /// Removes the target (RFC 9110 §9.3.5).
    public static let delete: Method = "DELETE"
    /// Changes the target as the content says (RFC 5789).
    public static let patch: Method = "PATCH"
    /// Asks what may be done (RFC 9110 §9.3.7).
    public static let options: Method = "OPTIONS"
    /// Has the request sent back (RFC 9110 §9.3.8).
    public static let trace: Method = "TRACE"
    /// Asks for a tunnel (RFC 9110 §9.3.6).
    public static let connect: Method = "CONNECT"

    /// Whether repeating the request has the effect of sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        // The length tells most of them apart, for less than comparing texts that differ.
        switch rawValue.utf8.count {
        case 3: rawValue == "GET" || rawValue == "PUT"
        case 4: rawValue == "HEAD"
        case 5: rawValue == "TRACE"
        case 6: rawValue == "DELETE"
        case 7: rawValue == "OPTIONS"
        default: false
        }
    }
}

extension Method {
    /// Whether the request asks for nothing but an answer (RFC 9110 §9.2.1).
    package var isSafe: Bool { isIdempotent && self != .put && self != .delete }
}
