package import RelayCore

extension FeedEvent {
    /// That a job came into a state; nil when nobody needs to hear of it.
    init?(_ job: StoredJob, _ state: JobState) {
        guard let kind = Kind(state) else { return nil }
        self.init(kind, route: job.record.route, job: job.record.id, user: job.record.submitter?.user)
    }

    /// That an attempt of a durable job is about to be sent.
    init(started attempt: Attempt, of job: StoredJob) {
        self.init(
            .attemptStarted,
            route: job.record.route,
            job: job.record.id,
            user: job.record.submitter?.user
        )
        self.attempt = attempt.number
        upstream = attempt.upstream
    }

    /// That a job ended in the store.
    init?(_ job: EndedJob) {
        guard let kind = Kind(job.state) else { return nil }
        self.init(kind, route: job.route, job: job.id, user: job.user)
        end = job.reason
    }

    /// That an attempt failed; nil when it succeeded.
    init?(_ attempt: Attempt, of job: StoredJob) {
        self.init(attempt, route: job.record.route, job: job.record.id, user: job.record.submitter?.user)
    }

    /// That an attempt failed; nil when it succeeded.
    package init?(_ attempt: Attempt, of job: JobContext) {
        self.init(attempt, route: job.route.name, job: job.id, user: job.client?.user)
    }

    private init?(_ attempt: Attempt, route: String, job: JobID, user: UInt32?) {
        guard let failure = attempt.failure else { return nil }
        self.init(.attemptFailed, route: route, job: job, user: user)
        self.attempt = attempt.number
        status = attempt.status
        failureKind = failure.kind
        detail = failure.detail
        rule = attempt.rule
        if case .retry(let delay)? = attempt.next { wait = delay }
    }
}

extension FeedEvent.Kind {
    /// Nil for a state that nobody needs to hear of.
    fileprivate init?(_ state: JobState) {
        switch state {
        case .succeeded: self = .jobSucceeded
        case .dead: self = .jobDead
        case .cancelled: self = .jobCancelled
        case .expired: self = .jobExpired
        case .held: self = .jobHeld
        case .scheduled, .queued, .running, .retrying: return nil
        }
    }
}
