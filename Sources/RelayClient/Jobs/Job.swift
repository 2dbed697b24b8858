public import RelayBase
import RelayJSON

/// A job as the relay tells of it: one that is kept on disk, or one that was answered a moment ago.
public struct Job: Sendable {
    /// Where a job stands.
    public enum State: String, CaseIterable, Sendable {
        /// Not due before a moment its submitter named.
        case scheduled
        /// Due, or waiting for an earlier job of its ordering key.
        case queued
        /// With the upstream.
        case running
        /// Has failed and is tried again.
        case retrying
        /// Put aside until the route, a credential or an operator lets it go on.
        case held
        /// Over: the upstream did what was asked, or a stand-in answered.
        case succeeded
        /// Over without success; can be retried by an operator.
        case dead
        /// Over because somebody said so.
        case cancelled
        /// Over because its time ran out.
        case expired

        /// Whether the job is over.
        public var isOver: Bool {
            switch self {
            case .scheduled, .queued, .running, .retrying, .held: false
            case .succeeded, .dead, .cancelled, .expired: true
            }
        }
    }

    /// 26 letters and digits, for `waystation explain` and the journal.
    public let id: String
    /// The route's name.
    public let route: String
    /// Where the job stands.
    public let state: State
    /// Why it waits, such as `backoff`, `route_paused` or `credentials`; nil when it does not.
    public let reason: String?
    /// Why it is over without success, such as `exhausted`, `rejected` or `outcome_unknown`.
    public let end: String?
    /// The outcome of the request; nil before the job is over.
    public let outcome: RelayResponse.Outcome?
    /// The status of the answer, once the job is over; nil when there was none.
    public let status: Status?
    /// The request's method.
    public let method: Method
    /// The request's path below the upstream's base, without its query.
    public let path: String
    /// When it was accepted.
    public let createdAt: WallTime?
    /// When it is due; nil unless it waits.
    public let dueAt: WallTime?
    /// When it is given up as expired, wherever it stands; nil for never.
    public let expiresAt: WallTime?
    /// When it was over.
    public let finishedAt: WallTime?
    /// The attempts, oldest first; the last hundred of a job that has more.
    public let attempts: [Attempt]
    /// How many attempts were made.
    public let attemptCount: Int
    /// How many may be made; nil when the relay does not say.
    public let maxAttempts: Int?
    /// Why the last failed attempt failed; nil without one, and for a job that succeeded.
    public let lastFailure: Failure?
    /// The reason that keeps it from being delivered now.
    public let blocker: Blocker?
    /// The caller that handed it over; nil when the relay does not know.
    public let client: Client?
    /// As `name=value`.
    public let labels: [String]
    /// Changes with the job.
    public let version: Int64
}

extension Job {
    /// One attempt.
    public struct Attempt: Sendable {
        /// Counted from 1.
        public let number: Int
        /// The upstream's name.
        public let upstream: String
        /// Where it was sent, as address and port; nil when there was no connection.
        public let address: String?
        /// When it began; nil for a job that was answered at once.
        public let startedAt: WallTime?
        /// How long it took.
        public let duration: Duration
        /// The answer's status; nil when there was none.
        public let status: Status?
        /// Why it failed; nil when it did not.
        public let failure: Failure?
        /// The recovery rule that decided what came next; nil when none matched.
        public let rule: String?
        /// The decision on what came next, such as `retry`, `failover` or `fail`.
        public let next: String?
        /// The wait before the next attempt.
        public let wait: Duration?
    }

    /// Why an attempt failed.
    public struct Failure: Sendable {
        /// The word for it, such as `http_status` or `connection_refused`.
        public let kind: String
        /// In words, safe to show; empty when the relay says no more.
        public let detail: String
        /// Whether it reached the upstream: `never_sent`, `refused`, `unknown` or `answered`; nil when the relay does not say.
        public let sent: String?
        /// The answer's status; nil when there was none.
        public let status: Status?
    }

    /// The reason that keeps a job from being delivered.
    public struct Blocker: Sendable {
        /// A word such as `backoff` or `route_paused`.
        public let reason: String
        /// In words, safe to show.
        public let detail: String
        /// When it goes on by itself; nil when that is not known.
        public let until: WallTime?
    }

    /// The caller that handed a job over, as the kernel named it.
    public struct Client: Sendable {
        /// The user's number.
        public let uid: UInt32
        /// The systemd unit; nil when the process had none.
        public let unit: String?
    }
}
