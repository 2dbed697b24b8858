package import RelayBase

/// A daemon that shares its store with others.
package struct FleetMember: Hashable, Sendable {
    package var node: NodeName
    /// Whether a number is the same user on each of their machines.
    package var sharesUsers: Bool

    package init(_ node: NodeName, sharesUsers: Bool) {
        self.node = node
        self.sharesUsers = sharesUsers
    }

    /// The node whose users those of this machine are; none where they are everybody's.
    package var usersNode: NodeName { sharesUsers ? .none : node }
}
