/// What an operator does to jobs.
package enum JobAction: String, CaseIterable, Sendable {
    /// Makes waiting jobs due now, and gives dead, cancelled and expired ones another life.
    case retry
    /// Ends what waits; what runs is asked to end.
    case cancel
    case hold
    case release
    /// Removes jobs that do not run, with everything about them but their idempotency key.
    case drop
    /// Removes the bodies of jobs that are over.
    case expunge
}
