/// A complete head with its content, from an upstream or made by the relay.
public struct HTTPResponse: Sendable {
    /// The status: 200 to 599.
    public var status: Status
    /// The fields, hop-by-hop ones included.
    public var fields: HeaderFields
    /// The content; in memory wherever a program sees it.
    public var body: Body

    /// Makes a response; without fields and content unless they are given.
    public init(status: Status, fields: HeaderFields = HeaderFields(), body: Body = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The content that is in memory; empty for a stream.
    public var bytes: [UInt8] {
        if case .bytes(let bytes) = body { bytes } else { [] }
    }

    /// The content that is in memory as text; nil when it is not UTF-8, empty where there is none.
    public var text: String? { String(validating: bytes, as: UTF8.self) }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status, the fields' names with the lengths of their values, and the size of the content.
    public var description: String { "\(status) \(fields) \(body)" }
}
