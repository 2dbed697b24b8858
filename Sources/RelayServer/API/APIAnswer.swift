import RelayCore

/// A whole answer of the API.
struct APIAnswer {
    var status: Status = 200
    var type: StaticString = "application/json"
    /// Values are free of control bytes.
    var fields: [(name: StaticString, value: String)] = []
    var body: [UInt8]

    init(_ status: Status = 200, _ body: [UInt8], fields: [(name: StaticString, value: String)] = []) {
        self.status = status
        self.body = body
        self.fields = fields
    }
}
