/// Somebody who asked for something: as the kernel tells, and by name where that is known.
package struct Principal: Hashable, Sendable {
    package var user: UInt32
    /// The daemon of a fleet on whose machine that is their number.
    package var node: NodeName
    package var name: String?

    package init(_ user: UInt32, name: String? = nil, on node: NodeName = .none) {
        self.user = user
        self.name = name
        self.node = node
    }
}

extension Principal: CustomStringConvertible {
    /// `alice (uid 1001)`, or `uid 1001`; of a fleet with the daemon, as `uid 1001 on west`.
    package var description: String {
        (name.map { "\($0) (uid \(user))" } ?? "uid \(user)") + (node.text.map { " on \($0)" } ?? "")
    }
}

extension Principal: ExpressibleByIntegerLiteral {
    package init(integerLiteral user: UInt32) { self.init(user) }
}
