/// A JSON pointer (RFC 6901).
package struct JSONPointer: Sendable, Hashable {
    package let tokens: [String]

    package init(tokens: [String]) { self.tokens = tokens }
}
