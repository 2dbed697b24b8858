package import RelayCore

/// What the caller asked for a job that is kept on disk.
package struct DurableOptions: Sendable {
    package var due = NewJob.Due.now
    /// Nil leaves it at the route's.
    package var expiresAfter: Duration?
    /// RFC 9218 urgency: 0 first, 7 last.
    package var priority: UInt8 = 3
    package var orderingKey: String?
    package var supersedeKey: String?
    package var idempotencyKey: String?
    /// How long the caller waits for the real answer before it takes 202 (`Prefer: wait`).
    package var wait: Duration?

    package init() {}
}
