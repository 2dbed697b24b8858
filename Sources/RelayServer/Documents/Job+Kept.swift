import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

extension Job {
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
        let ofRoute = [WaitReason.routePaused.name, WaitReason.routeClosed.name].contains(blocker.reason)
        if reason == nil, waits, ofRoute { reason = blocker.reason }
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

extension Job.Action {
    fileprivate init(_ record: ActionRecord) {
        self.init()
        action = record.action.rawValue
        at = WallTime(milliseconds: record.at)
        user = record.by?.user
        userName = record.by?.name
        node = record.by?.node.text
        isBulk = record.isBulk
        isAsked = record.isAsked
    }
}
