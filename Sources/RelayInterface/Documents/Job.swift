public import RelayBase

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
    public package(set) var id = ""
    /// The route's name.
    public package(set) var route = ""
    /// The state's word, which a newer relay may have more of.
    package var stateWord = ""
    /// Where the job stands.
    public var state: State { State(rawValue: stateWord) ?? .running }
    /// Why it waits, such as `backoff`, `route_paused` or `credentials`; nil when it does not.
    public package(set) var reason: String?
    /// Why it is over without success, such as `exhausted`, `rejected` or `outcome_unknown`.
    public package(set) var end: String?
    package var outcomeWord: String?
    package var isCancelAsked = false
    package var request = Request()
    /// When it was accepted.
    public package(set) var createdAt: WallTime?
    /// When it is due; nil unless it waits.
    public package(set) var dueAt: WallTime?
    /// When it is given up as expired, wherever it stands; nil for never.
    public package(set) var expiresAt: WallTime?
    /// When it was over.
    public package(set) var finishedAt: WallTime?
    /// The status of the answer, once the job is over; nil when there was none.
    public package(set) var status: Status?
    package var source: String?
    package var kept: Kept?
    package var notKeptBecause: String?
    /// How many attempts may be made; nil when the relay does not say.
    public package(set) var maxAttempts: Int?
    package var permitWait: Int64?
    package var ordinaryPath: OrdinaryPath?
    package var countedAttempts: Int?
    package var spentAttempts: Int?
    package var underWay: UnderWay?
    package var crashes: Int?
    package var listedAttempts: [Attempt]?
    package var actions: [Action] = []
    /// Why the last failed attempt failed; nil without one, and for a job that succeeded.
    public package(set) var lastFailure: Failure?
    /// The reason that keeps it from being delivered now.
    public package(set) var blocker: Blocker?
    /// The caller that handed it over; nil when the relay does not know.
    public package(set) var client: Client?
    /// As `name=value`.
    public package(set) var labels: [String] = []
    package var isKeyed: Bool?
    package var isRepeatable: Bool?
    package var isInDoubt = false
    package var orderingKey: String?
    package var supersedeKey: String?
    package var priority: Int?
    package var notice: Notice?
    package var noticeOf: String?
    package var isDurable = false
    /// Changes with the job.
    public package(set) var version: Int64 = 0
    package var links: Links?

    package init() {}
}

extension Job {
    /// The request's method.
    public var method: Method { Method(rawValue: request.method ?? "") }
    /// The request's path below the upstream's base, without its query.
    public var path: String { request.path ?? "" }
    /// How many attempts were made.
    public var attemptCount: Int { countedAttempts ?? attempts.count }
    /// The attempts, oldest first; the last hundred of a job that has more.
    public var attempts: [Attempt] { listedAttempts ?? [] }
}
