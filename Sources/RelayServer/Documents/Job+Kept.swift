import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

extension Job {
    /// A job that is kept on disk, as the store has it; without its attempts and actions.
    init(_ stored: StoredJob) {
        self.init()
        let record = stored.record
        id = record.id.description
        route = record.route
        stateWord = stored.state.name
        reason = stored.reason?.name
        end = stored.end?.rawValue
        isCancelAsked = stored.isCancelAsked
        request.method = record.method.rawValue
        request.path = "/" + record.target.prefix { $0 != "?" }
        request.size = Int64(stored.bodyLength)
        createdAt = WallTime(milliseconds: stored.createdAt)
        if !stored.state.isTerminal, stored.state != .running { dueAt = WallTime(milliseconds: stored.runAt) }
        expiresAt = stored.expiresAt.map { WallTime(milliseconds: $0) }
        finishedAt = stored.finishedAt.map { WallTime(milliseconds: $0) }
        countedAttempts = stored.attempts
        spentAttempts = stored.spentAttempts
        if stored.state == .running, let begun = stored.begun {
            underWay = UnderWay(begun, number: stored.attempts + 1)
        }
        if stored.crashes > 0 { crashes = Int(stored.crashes) }
        if stored.state != .succeeded {
            lastFailure = stored.failureKind.map { Failure($0, stored.failureStatus) }
        }
        client = record.submitter.map { Client($0.user, unit: $0.unit) }
        labels = record.labels
        isKeyed = record.idempotencyKey != nil
        isRepeatable = record.mayRepeat
        isInDoubt = stored.isInDoubt
        orderingKey = record.orderingKey.flatMap { $0 == JobRecord.routeOrder ? nil : $0 }
        supersedeKey = record.supersedeKey
        priority = Int(record.priority)
        isDurable = true
        version = Int64(stored.version)
        links = Links(record.id)
        if stored.hasBody { links?.requestBody = Links.path(of: record.id) + "/request/body" }
        if stored.hasAnswerBody { links?.response = Links.path(of: record.id) + "/response" }
        if stored.state.isTerminal {
            outcomeWord = OutcomeWord(nil, isFailure: stored.state != .succeeded).rawValue
        }
    }

    /// Takes up what keeps it from being delivered, and the reason of its route where it has none itself.
    mutating func take(_ blocker: RelayEngine.Blocker?) {
        guard let blocker else { return }
        var shown = Blocker()
        shown.reason = blocker.reason
        shown.detail = blocker.detail
        shown.since = blocker.since.map { WallTime(milliseconds: $0) }
        shown.until = blocker.until.map { WallTime(milliseconds: $0) }
        self.blocker = shown
        let waits = [JobState.queued, .retrying].contains { $0.name == stateWord }
        if reason == nil, waits, blocker.reason == WaitReason.routePaused.name { reason = blocker.reason }
    }

    /// Takes up its attempts and actions, and who gave its last answer.
    mutating func take(_ whole: WholeJob) {
        listedAttempts = whole.attempts.map { Attempt($0, since: whole.job.createdAt) }
        actions = whole.actions.map { Action($0) }
        let isFailure = whole.job.state != .succeeded
        if isFailure, let last = whole.attempts.last(where: { $0.failure != nil }), let failure = last.failure
        {
            lastFailure = Failure(failure, of: last.upstream)
        }
        guard let answer = whole.answer, whole.job.state.isTerminal else { return }
        status = answer.status
        source = answer.source.rawValue
        outcomeWord = OutcomeWord(answer.source, isFailure: isFailure).rawValue
    }
}

extension Job.UnderWay {
    fileprivate init(_ begun: BegunAttempt, number: Int) {
        self.init()
        self.number = number
        upstream = begun.upstream
        startedAt = WallTime(milliseconds: begun.beganAt)
        isResent = begun.isResent
    }
}

extension Job.Action {
    fileprivate init(_ record: ActionRecord) {
        self.init()
        action = record.action.rawValue
        at = WallTime(milliseconds: record.at)
        user = record.by?.user
        userName = record.by?.name
        isBulk = record.isBulk
        isAsked = record.isAsked
    }
}

extension Job.Links {
    init(_ id: JobID) {
        self.init()
        own = Self.path(of: id)
        attempts = Self.path(of: id) + "/attempts"
    }

    static func path(of id: JobID) -> String { "/v1/jobs/\(id)" }
}
