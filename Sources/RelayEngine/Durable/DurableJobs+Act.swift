package import RelayCore
import Synchronization

// MARK: Acting

extension DurableJobs {
    /// Acts on one job, with `version` only while it is at that version.
    ///
    /// - Returns: the job afterwards; nil when it was dropped.
    /// - Throws: `job_not_found`, `job_state`, `body_expired`, `precondition_failed`.
    package func act(
        _ action: JobAction,
        on id: JobID,
        version: UInt64? = nil
    ) async throws(Problem) -> StoredJob? {
        var filter = JobFilter(ids: [id])
        filter.version = version
        let report = try await apply(action, filter, limit: 1)
        guard report.matched > 0 else {
            guard version != nil else { throw Problem.noJob(id) }
            throw Problem.changed(try await job(id))
        }
        if report.changed > 0 {
            // Whoever waits for a job that was dropped learns that there is none.
            waiters.changed(id)
            if action == .drop { return nil }
            let job = try await job(id)
            if action == .hold, let event = FeedEvent(job, .held) {
                feed.publish(event, at: engine.time.wallMilliseconds())
            }
            return job
        }
        let job = try await job(id)
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

    /// Acts on at most `limit` jobs that match, going on after `cursor`; `rate` jobs a second become due when they
    /// are retried, the first after `offset`.
    package func act(
        _ action: JobAction,
        on filter: JobFilter,
        limit: Int,
        after cursor: JobCursor?,
        rate: Double?,
        offset: Duration,
        dryRun: Bool
    ) async throws(Problem) -> ActionReport {
        var spacing: JobSpacing?
        if action == .retry, let rate, rate > 0 {
            spacing = JobSpacing(first: offset, interval: .nanoseconds(Int64(min(1e9 / rate, 3.6e15))))
        }
        let report = try await apply(
            action,
            filter,
            limit: limit,
            after: cursor,
            spacing: spacing,
            dryRun: dryRun
        )
        if report.changed > 0, !dryRun { waiters.allChanged() }
        return report
    }

    private func apply(
        _ action: JobAction,
        _ filter: JobFilter,
        limit: Int,
        after cursor: JobCursor? = nil,
        spacing: JobSpacing? = nil,
        dryRun: Bool = false
    ) async throws(Problem) -> ActionReport {
        let report: ActionReport
        do throws(StoreError) {
            report = try await store.apply(
                action,
                to: filter,
                limit: limit,
                after: cursor,
                spacing: spacing,
                dryRun: dryRun,
                at: moment
            )
        } catch { throw Problem(error) }
        // One that runs is told of by its run.
        room.withLock { $0.ended(report.ended.count) }
        for job in report.ended {
            if let event = FeedEvent(job) { feed.publish(event, at: engine.time.wallMilliseconds()) }
            engine.snapshot.routes[job.route]?.state.ended(job)
        }
        for id in report.asked where running.cancel(id) { await cancelLater(id) }
        return report
    }

    /// A job to be cancelled is not here: it stays expected only while its claim may be on its way.
    private func cancelLater(_ id: JobID) async {
        do throws(StoreError) {
            let job = try await store.job(id)
            if job?.isCancelAsked != true { running.expectNoMore(id) }
        } catch {
            // The store itself cancels the job at its settlement, whatever its run comes to.
            running.expectNoMore(id)
        }
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
