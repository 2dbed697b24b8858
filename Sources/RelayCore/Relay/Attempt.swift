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
    /// Why a rule that matched did not send again.
    package var heldBack: HeldBack?

    /// What the rule decided.
    package enum Next: Sendable, Equatable {
        case retry(after: Duration)
        case refreshCredentials
        case failover(to: String)
        case respond(CannedResponse.Source)
        case quickRecovery
        case fail

        /// The action's name in configuration, journal and API.
        package var name: String {
            switch self {
            case .retry: "retry"
            case .refreshCredentials: "refresh_credentials"
            case .failover: "failover"
            case .respond: "respond"
            case .quickRecovery: "quick_recovery"
            case .fail: "fail"
            }
        }
    }

    /// What kept a request from being repeated although a rule wanted to.
    package enum HeldBack: String, Sendable {
        /// Bytes were sent, no complete answer came, and the method is not idempotent.
        case outcomeUnknown = "outcome_unknown"
        /// The request body was streamed and cannot be sent again.
        case bodyGone = "body_gone"

        package var text: String {
            switch self {
            case .outcomeUnknown: "not repeated: the outcome is unknown and repeating it may not be safe"
            case .bodyGone: "not repeated: the request body was streamed and is gone"
            }
        }
    }

    package init(number: Int, upstream: String, began: Instant) {
        self.number = number
        self.upstream = upstream
        self.began = began
        duration = .zero
    }
}
