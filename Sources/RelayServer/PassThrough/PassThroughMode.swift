/// How requests that need only be passed on are served.
package enum PassThroughMode: String, Sendable, CaseIterable {
    case on
    /// All go the ordinary way.
    case off
    /// For tests: each becomes an ordinary request right after it was sent.
    case promote
    #if DEBUG
    /// For tests: each is also built the ordinary way, and the process ends at the first difference.
    case check
    #endif
}
