import Synchronization

/// The name of a daemon of a fleet; `none` where there is none but this.
///
/// It is a small number in this process, so that whatever carries it costs nothing where there is no fleet.
package struct NodeName: Hashable, Sendable {
    private let number: UInt32

    package static let none = NodeName(number: 0)

    private static let names: Mutex<[String]> = Mutex([])

    private init(number: UInt32) { self.number = number }

    package init(_ name: String?) {
        guard let name, !name.isEmpty else {
            self = .none
            return
        }
        number = NodeName.names.withLock { names in
            if let known = names.firstIndex(of: name) { return UInt32(known) + 1 }
            names.append(name)
            return UInt32(names.count)
        }
    }

    /// Nil of none.
    package var text: String? { number == 0 ? nil : NodeName.names.withLock { $0[Int(number) - 1] } }

    /// Whether a user of the one node is the same user at the other: a node that nobody names is any.
    package func shares(users other: NodeName) -> Bool { self == .none || other == .none || self == other }
}
