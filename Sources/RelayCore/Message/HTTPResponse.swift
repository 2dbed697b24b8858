/// A complete head with its content, from an upstream or made by the relay.
package struct HTTPResponse: Sendable {
    package var status: Status
    package var fields: HeaderFields
    package var body: Body

    package init(status: Status, fields: HeaderFields = HeaderFields(), body: Body = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
