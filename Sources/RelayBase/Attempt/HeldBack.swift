/// A rule that matched a failure and did not act on it, or did not do all that it says.
public struct HeldBack: Sendable, Equatable {
    /// The rule's name.
    public let rule: String
    /// The reason that kept it from that.
    public let reason: Reason

    /// Says of a rule why it did not act.
    public init(rule: String, reason: Reason) {
        self.rule = rule
        self.reason = reason
    }

    /// A reason that keeps a rule from acting.
    public enum Reason: Sendable, Equatable {
        /// Bytes were sent, no complete answer came, and the method is not idempotent (RFC 9110 §9.2.2).
        case outcomeUnknown
        /// The answer is a failure that does not say the request was refused, and the method is not idempotent.
        case mayHaveActed
        /// The request body was streamed and cannot be sent again.
        case bodyGone
        /// The rule has brought the job to as many attempts as it may.
        case ruleSpent(Int)
        /// The job has made as many attempts as it may.
        case attemptsSpent(Int)
        /// As many of the job's attempts as may be were never sent.
        case neverSent(Int)
        /// The wait would reach the job's deadline; zero when the deadline has passed.
        case deadline(wait: Duration)
        /// The validator that named the failure says that repeating is no use.
        case notRetryable
        /// The credential has been fetched anew as often as it may be.
        case refreshesSpent(Int)
        /// A credential that had just been fetched was refused, and no other is fetched for that long.
        case freshTokenRefused(for: Duration)
        /// The upstream was asked as often what became of the request as it may be.
        case lookUpsSpent(Int)
        /// The request has no value by which the upstream could be asked what became of it, in words.
        case unaskable(String)
        /// The upstream has begun an operation, and the rule does not name its end among its failures.
        case operationBegan
        /// The content of the answer that began an operation was too large, or did not come whole.
        case contentGivenUp
        /// The route has no credential that can be fetched anew.
        case noCredential
        /// The route's retries are as much of its load as they may be.
        case budgetSpent
        /// Nothing is sent to the upstream for now, as it has failed too often or has asked for patience.
        case leftAlone
        /// The job has been sent to that upstream before.
        case entered(String)
        /// That upstream failed a moment ago and is left alone for its cooldown.
        case cooling(String)
        /// The caller asked for no fallback.
        case fallbackOff
        /// No good answer to the request is kept, or only one that is too old.
        case nothingKept
        /// The strategy was asked and passed on.
        case passedOn
        /// The job is to be delivered, and an answer of the relay's own delivers nothing.
        case deliversNothing
        /// No rule would send the request again if it were kept.
        case noRuleRepeats
        /// The rule has answered, and the request does not go on as a kept job.
        indirect case notKept(Reason)
        /// The attempt was late and was not sent a second time, for that reason in words.
        case notHedged(String)
        /// The rule, or the part of the route's traffic, only tells what it would have done.
        case reported(String)
        /// The reason in the words of a record on disk.
        case recorded(String)

        private static let markOfReport = "(mode report)"

        /// Whether the rule would have acted, had it not been told to report only; a record on disk knows that by its words.
        package var isReport: Bool {
            switch self {
            case .reported: true
            case .recorded(let text): text.hasSuffix(Self.markOfReport)
            default: false
            }
        }

        private static let markOfHedge = "not sent a second time: "

        /// Whether an attempt that was late was not sent a second time, which is about no rule.
        package var isOfHedge: Bool {
            switch self {
            case .notHedged: true
            case .recorded(let text): text.hasPrefix(Self.markOfHedge)
            default: false
            }
        }

        /// The reason in words, for whoever reads a timeline.
        public var text: String {
            switch self {
            case .outcomeUnknown: "not repeated: the outcome is unknown and repeating it may not be safe"
            case .mayHaveActed:
                "not repeated: it was answered and may have been carried out, so repeating it may not be safe"
            case .bodyGone: "not repeated: the request body was streamed and is gone"
            case .ruleSpent(let count):
                "its \(count) attempt\(count == 1 ? "" : "s") (max_attempts) are spent"
            case .attemptsSpent(let count): "the job's \(count) attempt\(count == 1 ? "" : "s") are spent"
            case .neverSent(let count): "\(count) attempts of the job were never sent, and no more are made"
            case .deadline(let wait):
                wait > .zero
                    ? "the wait of \(DurationText.text(wait)) would reach the job's deadline"
                    : "the job's deadline has passed"
            case .notRetryable: "the check that named the failure says retryable false"
            case .refreshesSpent(let count):
                "the credential was fetched anew \(count) time\(count == 1 ? "" : "s")"
            case .freshTokenRefused(let wait):
                "a fresh token was refused, and no other is fetched for \(DurationText.text(wait))"
            case .lookUpsSpent(let count):
                "the upstream was asked \(count) time\(count == 1 ? "" : "s") (verify.attempts), and did not say"
            case .unaskable(let why): "the upstream cannot be asked: \(why)"
            case .operationBegan:
                "not repeated: the upstream had begun an operation, and the rule does not name the kind of this failure"
            case .contentGivenUp:
                "the content of the answer that began the operation was given up: it was too large, or did not come whole"
            case .noCredential: "there is no credential to fetch anew"
            case .budgetSpent:
                "the retries of the route are as much of its load as they may be (retry_budget)"
            case .leftAlone: "the upstream is left alone for now"
            case .entered(let name): "the job has been sent to \(name) before"
            case .cooling(let name): "\(name) failed a moment ago and is left alone for its cooldown"
            case .fallbackOff: "the caller asked for no fallback"
            case .nothingKept: "no good answer to this request is kept"
            case .passedOn: "the strategy passed on"
            case .deliversNothing: "an answer in the upstream's stead would not deliver a durable job"
            case .noRuleRepeats: "no rule of the route would send it again"
            case .notKept(let reason): "not kept: " + reason.shortText
            case .notHedged(let reason): Self.markOfHedge + reason
            case .reported(let what): "would have \(what) \(Self.markOfReport)"
            case .recorded(let text): text
            }
        }
    }
}

extension HeldBack.Reason {
    /// The reason without what a request is kept from by it.
    package var shortText: String {
        let prefix = "not repeated: "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
}

extension Attempt.Next {
    /// The decision of a rule that only tells, behind "would have".
    package var would: String {
        switch self {
        case .retry(let wait): "sent it again after \(DurationText.text(wait))"
        case .refreshCredentials: "fetched a new credential and sent it again"
        case .failover(let upstream): "sent it to \(upstream ?? "another upstream")"
        case .respond(let source), .respondAndKeep(let source): "answered with the \(source.rawValue)"
        case .quickRecovery: "taken it for a success"
        case .fail: "ended it with the failure"
        case .deadLetter: "given it up"
        case .pauseRoute: "paused the route"
        case .hold: "put it aside"
        case .verify: "asked what became of it"
        case .follow: "looked at its operation"
        case .hedge: "left it to the other sending"
        }
    }
}
