package import RelayBase
import RelayCore
import RelayInterface
package import RelayJobs

/// Does to kept jobs what callers and operators ask for.
package final class Operations: Sendable {
    private let store: any JobStore
    private let dispatcher: Dispatcher
    private let announcer: Announcer
    private let time: any ClockSource

    init(_ store: any JobStore, _ dispatcher: Dispatcher, _ announcer: Announcer) {
        self.store = store
        self.dispatcher = dispatcher
        self.announcer = announcer
        time = dispatcher.engine.time
    }

    /// Acts on one job, with `version` only while it is at that version.
    ///
    /// A retry sends a job whose place a newer one took only with `takesSuperseded`.
    ///
    /// - Returns: the job afterwards; nil when it was dropped.
    /// - Throws: `job_not_found`, `job_state`, `body_expired`, `precondition_failed`.
    package func act(
        _ action: JobAction,
        on id: JobID,
        version: UInt64? = nil,
        takesSuperseded: Bool = false,
        by: Principal?
    ) async throws(Problem) -> StoredJob? {
        var filter = JobFilter(ids: [id])
        filter.version = version
        filter.sparesSuperseded = action == .retry && !takesSuperseded
        let report = try await act(ActionOrder(action, filter, limit: 1, by: .user(by, isBulk: false)))
        guard report.matched > 0 else {
            guard version != nil else { throw Problem.noJob(id) }
            throw Problem.changed(try await store.present(id))
        }
        if report.changed > 0 {
            filter.route = report.changes.first?.route
            let (changed, asked) = (report.changed, report.asked.count)
            let change = JobsChange(
                by: by,
                action: action,
                filter: filter,
                changed: changed,
                asked: asked
            )
            announcer.record(.jobsChanged(change))
            return action == .drop ? nil : try await store.present(id)
        }
        let job = try await store.present(id)
        if action == .cancel, job.isCancelAsked { return job }
        let route = job.record.route
        if report.superseded == 0, report.expunged > 0 || action == .retry && !job.hasBody {
            let detail = "the job's body is no longer kept, so it cannot be sent again"
            throw Problem(.bodyExpired, detail, route: route, job: id)
        }
        let reason = job.reason.map { " (\($0.name))" } ?? ""
        let detail =
            report.superseded > 0
            ? "a newer job with its supersede key took its place, and it would be sent after that one; where that is "
                + "wanted say ?superseded=true (jobs retry --superseded)"
            : "the job is \(job.state.name)\(reason): it cannot \(action.need(job))"
        throw Problem(.jobState, detail, route: route, job: id)
    }

    /// Acts on the jobs that match.
    package func act(_ order: ActionOrder) async throws(Problem) -> ActionReport {
        let report = try await store.told { store throws(StoreError) in
            try await store.apply(order, at: JobMoment(time))
        }
        if !order.isDryRun { await tell(report, order.action) }
        return report
    }

    /// Takes the next page of a run; nil where no such run goes on.
    func advance(_ run: Int64, by step: RunStep) async throws(StoreError) -> RunAdvance? {
        let advance = try await store.advance(run, by: step, at: JobMoment(time))
        if let advance { await tell(advance.report, advance.run.action) }
        return advance
    }

    private func tell(_ report: ActionReport, _ action: JobAction) async {
        for job in report.changes { announcer.record(JobEvent(JobReport(job), after: action)) }
        for id in report.asked { await dispatcher.cancel(id) }
        if action == .cancel {
            dispatcher.stopOperations(
                of: report.changes.lazy.filter { $0.state == .cancelled }.map { ($0.id, $0.route) }
            )
        }
    }
}

extension JobEvent {
    /// The event that tells what an action made of a job.
    fileprivate init(_ job: JobReport, after action: JobAction) {
        switch action {
        case .drop: self = .dropped(job)
        case .cancel where job.state.isTerminal: self = .ended(job)
        case .retry, .cancel, .hold, .release, .expunge: self = .changed(job)
        }
    }
}

extension JobStore {
    /// The store's answer to a question, or the problem that a caller is told when there is none.
    package func told<Value>(
        route: String? = nil,
        job: JobID? = nil,
        _ question: (any JobStore) async throws(StoreError) -> Value
    ) async throws(Problem) -> Value {
        do throws(StoreError) {
            return try await question(self)
        } catch {
            throw Problem(error, route: route, job: job)
        }
    }

    /// The job as it is now.
    ///
    /// - Throws: `job_not_found`, `storage_failed`.
    package func present(_ id: JobID) async throws(Problem) -> StoredJob {
        guard let found = try await told({ store throws(StoreError) in try await store.job(id) }) else {
            throw Problem.noJob(id)
        }
        return found
    }
}

extension Problem {
    /// The job is no longer as the caller last saw it.
    package static func changed(_ job: StoredJob) -> Problem {
        Problem(
            .preconditionFailed,
            "the job is at version \(job.version), which If-Match does not name: look at it again",
            job: job.record.id
        )
    }
}

extension JobAction {
    /// Why it cannot be done to some jobs, after "it cannot".
    fileprivate func need(_ job: StoredJob) -> String {
        switch self {
        case .retry: "be retried unless it waits for a time, is held, or is over without success"
        case .cancel: "be cancelled once it is over"
        case .hold: "be held unless it waits"
        case .release: "be released unless it is held"
        case .drop: "be dropped while it runs; cancel it first"
        case .expunge where job.state.isTerminal: "be expunged twice"
        case .expunge: "be expunged before it is over; cancel it first"
        }
    }
}
