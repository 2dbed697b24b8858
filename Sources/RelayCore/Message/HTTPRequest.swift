/// What a caller asks of a route, before anything is prepared.
package struct HTTPRequest: Sendable {
    package var method: Method
    /// Path and query below the upstream's base, in origin form without the leading slash: `orders/7?full=1`.
    ///
    /// Already checked: no dot segments, no empty segments, no encoded slash, no control byte.
    package var target: String
    /// The end-to-end fields only; hop-by-hop and relay fields are gone.
    package var fields: HeaderFields
    package var body: Body

    package init(method: Method, target: String, fields: HeaderFields = HeaderFields(), body: Body = .empty) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}
