/// Looks on while jobs run; called in the job's task, in this order, and must not wait.
///
/// `attemptBegan`, `responded` where an answer came, `decided` where the attempt failed, for each attempt; then
/// `finished`, exactly once.
public protocol AttemptObserver: Sendable {
    /// An attempt begins.
    func attemptBegan(_ attempt: Attempt, of job: String)
    /// A complete answer came, whatever it is.
    func responded(_ response: HTTPResponse, to attempt: Attempt, of job: String)
    /// The attempt failed, and this is what follows: ``Attempt/rule`` and ``Attempt/next``.
    func decided(_ attempt: Attempt, of job: String)
    /// The job is over.
    func finished(_ job: FinishedJob)
}

extension AttemptObserver {
    /// Does nothing.
    public func attemptBegan(_ attempt: Attempt, of job: String) {}
    /// Does nothing.
    public func responded(_ response: HTTPResponse, to attempt: Attempt, of job: String) {}
    /// Does nothing.
    public func decided(_ attempt: Attempt, of job: String) {}
    /// Does nothing.
    public func finished(_ job: FinishedJob) {}
}

/// How a job ended, whatever its value.
public struct FinishedJob: Sendable {
    /// The job's id, a ULID.
    public let id: String
    /// Nil when the job succeeded or was answered in the upstream's stead.
    public let failure: Failure?
    /// Who made the answer; nil for a failure.
    public let source: AnswerSource?
    /// Every attempt, in order.
    public let attempts: [Attempt]

    /// What a service would tell an observer; for a test of one.
    ///
    /// - Parameters:
    ///   - id: the job's id.
    ///   - failure: what the job ended with; nil for a success.
    ///   - source: who made the answer; nil for a failure.
    ///   - attempts: every attempt, in order.
    public init(id: String, failure: Failure?, source: AnswerSource?, attempts: [Attempt]) {
        self.id = id
        self.failure = failure
        self.source = source
        self.attempts = attempts
    }
}
