/// The record of one attempt: a line of the job's timeline.
public struct Attempt: Sendable {
    /// Counted from 1; the first attempt is attempt 1.
    public var number: Int
    public var upstream: String
    public var began: Instant
    public var duration: Duration
    public var status: Status?
    /// Nil when the attempt succeeded.
    public var failure: Failure?
    public var exchange: Exchange?
    /// Redirects that were followed within the attempt.
    public var redirects = 0
    /// The rule that decided what came next; nil when none matched or none was asked.
    public var rule: String?
    public var next: Next?
    /// Why a rule that matched did not send again.
    public var heldBack: HeldBack?

    /// What the rule decided.
    public enum Next: Sendable, Equatable {
        case retry(after: Duration)
        case refreshCredentials
        case failover(to: String)
        case respond(CannedResponse.Source)
        case quickRecovery
        case fail

        /// The action's name in configuration, journal and API.
        public var name: String {
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
    public enum HeldBack: String, Sendable {
        /// Bytes were sent, no complete answer came, and the method is not idempotent.
        case outcomeUnknown = "outcome_unknown"
        /// The request body was streamed and cannot be sent again.
        case bodyGone = "body_gone"

        public var text: String {
            switch self {
            case .outcomeUnknown: "not repeated: the outcome is unknown and repeating it may not be safe"
            case .bodyGone: "not repeated: the request body was streamed and is gone"
            }
        }
    }

    public init(number: Int, upstream: String, began: Instant) {
        self.number = number
        self.upstream = upstream
        self.began = began
        duration = .zero
    }
}
