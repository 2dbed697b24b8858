/// A JSON value (RFC 8259); objects keep the order of their members.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

/// A JSON number, kept as it was written.
package struct JSONNumber: Sendable, Equatable {
    package let text: String

    /// `text` must match the number grammar of RFC 8259 §6.
    package init(text: String) { self.text = text }
}
