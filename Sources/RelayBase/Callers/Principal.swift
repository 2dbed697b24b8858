/// Somebody who asked for something: as the kernel tells, and by name where that is known.
package struct Principal: Hashable, Sendable {
    package var user: UInt32
    package var name: String?

    package init(_ user: UInt32, name: String? = nil) {
        self.user = user
        self.name = name
    }
}

extension Principal: CustomStringConvertible {
    /// `alice (uid 1001)`, or `uid 1001`.
    package var description: String { name.map { "\($0) (uid \(user))" } ?? "uid \(user)" }
}

extension Principal: ExpressibleByIntegerLiteral {
    package init(integerLiteral user: UInt32) { self.init(user) }
}
