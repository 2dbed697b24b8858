import RelayBase
package import RelayCore
import RelayEngine
package import RelayInterface
import RelayJobs
import RelayRoute

extension Job {
    /// A job that was answered when it was done; it ended at that many milliseconds since 1970 UTC.
    package init(_ report: JobReport, finishedAt end: Int64) {
        self.init()
        id = report.id.description
        route = report.route
        stateWord = report.state.name
        outcomeWord = OutcomeWord(report.source, isFailure: report.failure != nil).rawValue
        createdAt = WallTime(milliseconds: report.id.milliseconds)
        finishedAt = WallTime(milliseconds: end)
        status = report.status
        source = report.source?.rawValue
        request.sentOnceBecause = report.sentOnceBecause
        kept = report.keptJob.map { Kept($0) }
        notKeptBecause = report.keptJob == nil ? report.notKeptBecause : nil
        permitWait = report.permitWait.map { $0.saturatedNanoseconds / 1_000_000 }
        countedAttempts = report.attempts.count
        let attempts = report.attempts.asBegun
        let began = attempts.first?.beganAt ?? 0
        listedAttempts = attempts.map { Attempt($0, since: began) }
        let upstream = report.attempts.last { $0.failure != nil }?.upstream
        lastFailure = report.failure.map { Failure($0, of: upstream) }
        version = 1
        links = Links(report.id)
        if let context = report.context { take(context) }
    }

    private mutating func take(_ context: JobContext) {
        request.method = context.method.rawValue
        request.path = context.path
        maxAttempts = context.maxAttempts
        ordinaryPath = context.way.path.map { OrdinaryPath($0) }
        client = context.client.map { Client($0.user, process: $0.process, unit: $0.unit, node: $0.node) }
        labels = context.options.labels
    }
}

extension Job.Kept {
    init(_ name: KeptJobName) {
        self.init()
        job = name.id.description
        location = Job.Links.path(of: name.id)
        isReplayed = name.isReplayed
    }
}

extension Job.OrdinaryPath {
    init(_ path: RequestWay) {
        self.init()
        reason = path.reason
        detail = path.sentence
    }
}
