/// A caller's request to a route, before anything is prepared.
public struct HTTPRequest: Sendable {
    /// The method; a token.
    public var method: Method
    /// Path and query below the upstream's base, in origin form without the leading slash: `orders/7?full=1`.
    ///
    /// Percent-encoded; no dot segments, no control byte.
    public var target: String
    /// The end-to-end fields; framing, `Host` and the route's own fields are added by the relay.
    public var fields: HeaderFields
    /// The content.
    public var body: Body

    /// Makes a request; without fields and content unless they are given.
    public init(
        method: Method,
        target: String,
        fields: HeaderFields = HeaderFields(),
        body: Body = .empty
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and path without the query, the fields' names with the lengths of their values, and the size of the
    /// content.
    public var description: String { "\(method.rawValue) \(target.prefix { $0 != "?" }) \(fields) \(body)" }
}
