/// Something an operator may want to know.
///
/// `message` reads alone and may have several lines; the fields are for searching. Neither ever holds a header value, a body, a token or a
/// query.
package struct JournalRecord: Sendable {
    /// How much it matters (syslog(3)).
    package enum Priority: UInt8, Sendable, Comparable {
        case emergency = 0
        case alert
        case critical
        case error
        case warning
        case notice
        case info
        case debug

        /// The more important is the lesser.
        package static func < (lhs: Priority, rhs: Priority) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The part of a record that is known before it is written, and that decides whether it is.
    package struct Kind: Sendable {
        package let priority: Priority
        package let id: MessageID?

        package init(_ priority: Priority, _ id: MessageID?) {
            self.priority = priority
            self.id = id
        }
    }

    package let kind: Kind
    package var message: String
    /// In the order in which they are written; a name may stand more than once.
    package private(set) var fields: [(field: JournalField, value: String)] = []

    package var priority: Priority { kind.priority }
    package var id: MessageID? { kind.id }

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package init(_ priority: Priority, _ id: MessageID?, _ message: String) {
        self.init(Kind(priority, id), message)
    }

    /// Adds a field; nil adds nothing.
    package mutating func add(_ field: JournalField, _ value: String?) {
        if let value { fields.append((field, value)) }
    }

    /// Adds a field; nil adds nothing.
    package mutating func add(_ field: JournalField, _ value: (some BinaryInteger)?) {
        if let value { fields.append((field, String(value))) }
    }
}
