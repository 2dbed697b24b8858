/// What a listener's callers may do; each role includes the ones before it.
package enum Role: String, CaseIterable, Comparable, Sendable {
    /// Use routes, see own jobs.
    case submit
    /// See everything.
    case read
    /// Retry, cancel, pause.
    case operate
    /// Reload, drain, configuration.
    case admin

    private var rank: Int {
        switch self {
        case .submit: 0
        case .read: 1
        case .operate: 2
        case .admin: 3
        }
    }

    package static func < (lhs: Role, rhs: Role) -> Bool { lhs.rank < rhs.rank }
}
