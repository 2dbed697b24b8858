/// One statement of a batch, with its parameters for `$1`, `$2` and so on.
package struct PostgresStatement: Sendable {
    package var text: String
    package var parameters: [PostgresValue]

    /// The text may hold one command; what is equal in each call is prepared once.
    package init(_ text: String, _ parameters: [PostgresValue] = []) {
        self.text = text
        self.parameters = parameters
    }

    /// Whether the text ends a transaction block.
    var isCommit: Bool {
        let first = text.utf8.drop { $0 <= UInt8(ascii: " ") }.prefix { $0 | 0x20 >= UInt8(ascii: "a") }
        return ["commit", "end"].contains { $0.utf8.elementsEqual(first.lazy.map { $0 | 0x20 }) }
    }
}
