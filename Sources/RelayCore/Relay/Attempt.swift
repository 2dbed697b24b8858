/// The record of one attempt: a line of the job's timeline.
package struct Attempt: Sendable {
    /// Counted from 1; the first attempt is attempt 1.
    package var number: Int
    package var upstream: String
    package var began: Instant
    package var duration: Duration
    package var status: Status?
    /// Nil when the attempt succeeded.
    package var failure: Failure?
    package var exchange: Exchange?
    /// The rule that decided what came next; nil when none matched or none was asked.
    package var rule: String?
    package var next: Next?

    /// What the rule decided.
    package enum Next: Sendable, Equatable {
        case retry(after: Duration)
        case refreshCredentials
        case failover(to: String)
        case respond(CannedResponse.Source)
        case quickRecovery
        case fail
    }

    package init(number: Int, upstream: String, began: Instant) {
        self.number = number
        self.upstream = upstream
        self.began = began
        duration = .zero
    }
}
