/// What a listener's callers may do; each role includes the ones before it.
package enum Role: Int, CaseIterable, Comparable, Sendable {
    /// Use routes, see own jobs.
    case submit
    /// See everything.
    case read
    /// Retry, cancel, pause.
    case operate
    /// Reload, drain, configuration.
    case admin

    package init?(name: String) {
        guard let role = Role.allCases.first(where: { $0.name == name }) else { return nil }
        self = role
    }

    package var name: String {
        switch self {
        case .submit: "submit"
        case .read: "read"
        case .operate: "operate"
        case .admin: "admin"
        }
    }

    package static func < (lhs: Role, rhs: Role) -> Bool { lhs.rawValue < rhs.rawValue }
}
