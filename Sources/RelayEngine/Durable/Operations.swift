package import RelayCore

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

    /// What is asked for.
    package struct Order: Sendable {
        package var action: JobAction
        package var filter: JobFilter
        /// Jobs at most.
        package var limit: Int
        /// Where to go on.
        package var cursor: JobCursor?
        /// How jobs that are retried are spread.
        package var spacing: JobSpacing?
        /// Whether it is only counted.
        package var isDryRun = false
        package var origin: ActionOrigin

        package init(_ action: JobAction, _ filter: JobFilter, limit: Int, by origin: ActionOrigin) {
            self.action = action
            self.filter = filter
            self.limit = limit
            self.origin = origin
        }
    }

    /// Acts on one job, with `version` only while it is at that version.
    ///
    /// - Returns: the job afterwards; nil when it was dropped.
    /// - Throws: `job_not_found`, `job_state`, `body_expired`, `precondition_failed`.
    package func act(
        _ action: JobAction,
        on id: JobID,
        version: UInt64? = nil,
        by user: UInt32?
    ) async throws(Problem) -> StoredJob? {
        var filter = JobFilter(ids: [id])
        filter.version = version
        let report = try await act(Order(action, filter, limit: 1, by: .user(user, isBulk: false)))
        guard report.matched > 0 else {
            guard version != nil else { throw Problem.noJob(id) }
            throw Problem.changed(try await store.present(id))
        }
        if report.changed > 0 {
            announcer.record(
                .jobsChanged(
                    JobsChange(
                        user: user,
                        action: action,
                        filter: filter,
                        changed: report.changed,
                        asked: report.asked.count
                    )
                )
            )
            return action == .drop ? nil : try await store.present(id)
        }
        let job = try await store.present(id)
        if action == .cancel, job.isCancelAsked { return job }
        var problem: Problem
        if report.expunged > 0 || action == .retry && !job.hasBody {
            problem = Problem(.bodyExpired, "the job's body is no longer kept, so it cannot be sent again")
        } else {
            problem = Problem(
                .jobState,
                "the job is \(job.state.name)\(job.reason.map { " (\($0.name))" } ?? ""): it cannot \(action.need)"
            )
        }
        problem.job = id
        problem.route = job.record.route
        throw problem
    }

    /// Acts on the jobs that match.
    package func act(_ order: Order) async throws(Problem) -> ActionReport {
        let report: ActionReport
        do throws(StoreError) {
            report = try await store.apply(
                order.action,
                to: order.filter,
                limit: order.limit,
                after: order.cursor,
                spacing: order.spacing,
                dryRun: order.isDryRun,
                by: order.origin,
                at: JobMoment(time)
            )
        } catch { throw Problem(error) }
        guard !order.isDryRun else { return report }
        for job in report.changes { announcer.record(JobEvent(job, after: order.action)) }
        for id in report.asked { await dispatcher.cancel(id) }
        return report
    }
}

extension JobEvent {
    /// What an action made of a job.
    fileprivate init(_ job: JobReport, after action: JobAction) {
        switch action {
        case .drop: self = .dropped(job)
        case .cancel where job.state.isTerminal: self = .ended(job)
        case .retry, .cancel, .hold, .release, .expunge: self = .changed(job)
        }
    }
}

extension JobStore {
    /// The job as it is now.
    ///
    /// - Throws: `job_not_found`, `storage_failed`.
    package func present(_ id: JobID) async throws(Problem) -> StoredJob {
        let found: StoredJob?
        do throws(StoreError) { found = try await job(id) } catch { throw Problem(error) }
        guard let found else { throw Problem.noJob(id) }
        return found
    }
}

extension Problem {
    /// The job is no longer as the caller last saw it.
    package static func changed(_ job: StoredJob) -> Problem {
        var problem = Problem(
            .preconditionFailed,
            "the job is at version \(job.version), which If-Match does not name: look at it again"
        )
        problem.job = job.record.id
        return problem
    }
}

extension JobAction {
    /// Why it cannot be done to some jobs, after "it cannot".
    fileprivate var need: String {
        switch self {
        case .retry: "be retried unless it waits for a time, is held, or is over without success"
        case .cancel: "be cancelled once it is over"
        case .hold: "be held unless it waits"
        case .release: "be released unless it is held"
        case .drop: "be dropped while it runs; cancel it first"
        case .expunge: "be expunged before it is over, nor twice"
        }
    }
}
