/// How the daemon is doing, in the word of its status.
package enum DaemonState: String, CaseIterable, Sendable {
    case serving
    /// It serves by an older configuration than its file.
    case reloadFailed = "reload_failed"
    case draining
}

/// Whether jobs can be kept, in the word of the status.
package enum StorageState: String, CaseIterable, Sendable {
    case ok
    /// There is no room.
    case full
    /// The disk takes no writes.
    case stalled
    /// Its file was removed or replaced.
    case gone
    /// The server that holds it is away.
    case unavailable
}
