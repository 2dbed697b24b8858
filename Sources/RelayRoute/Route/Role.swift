/// The rights of a listener's callers.
package enum Role: String, CaseIterable, Sendable {
    /// Read the metrics, and nothing else.
    case metrics
    /// Use routes, see own jobs.
    case submit
    /// See everything, the metrics too.
    case read
    /// Retry, cancel, pause.
    case operate
    /// Reload, drain, configuration.
    case admin

    /// Whether who has the role may do what takes the other: each includes the ones before it, but for the metrics, which
    /// tell of everybody's requests.
    package func includes(_ other: Role) -> Bool {
        switch other {
        case .metrics: self != .submit
        case .submit: self != .metrics
        case .read: self == .read || self == .operate || self == .admin
        case .operate: self == .operate || self == .admin
        case .admin: self == .admin
        }
    }
}
