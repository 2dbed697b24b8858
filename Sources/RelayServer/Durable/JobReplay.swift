import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs

/// The answer of a job that is over, as its caller would have had it while waiting.
struct JobReplay {
    let job: StoredJob
    let server: LoopServer
    private var store: any JobStore { server.durable.store }
    /// Whether it answers the submission itself, which then is told what a caller that waits is told.
    let isSubmission: Bool
    let extra: [(name: StaticString, value: String)]

    /// Attempts told of in the answer's fields.
    private static let attemptLimit = 20

    /// - Throws: `response_not_ready`, `body_expired`, or what is said where no upstream answered.
    func answer() async throws(Problem) -> Answer {
        let attempts = try await attempts()
        let kept = try await JobReplay.answer(of: job, in: store) {
            isSubmission ? failure(attempts) : JobReplay.none(job)
        }
        try await JobReplay.check(kept.body, of: job, server)
        guard let body = kept.body.body(from: store) else { throw JobReplay.expired(job) }
        let response = HTTPResponse(status: kept.status, fields: kept.fields, body: body)
        var facts = AnswerFacts(
            job: job.record.id,
            source: kept.source,
            isFailure: job.state != .succeeded,
            attempts: attempts
        )
        facts.attemptCount = job.attempts
        facts.extra = extra
        return Answer(response, facts)
    }

    private func attempts() async throws(Problem) -> [Attempt] {
        try await store.told { store throws(StoreError) in
            try await store.attempts(
                of: job.record.id,
                after: max(0, job.attempts - JobReplay.attemptLimit),
                limit: JobReplay.attemptLimit
            )
        }
    }

    /// The problem that is told where no upstream answered.
    private func failure(_ attempts: [Attempt]) -> Problem {
        let (id, route) = (job.record.id, job.record.route)
        switch job.state {
        case .expired:
            let detail = "the job expired before it could be delivered"
            return Problem(.deadlineExceeded, detail, route: route, job: id)
        case .cancelled: return Problem(.jobState, "the job was cancelled", route: route, job: id)
        default:
            let reason = job.end.map { ": \($0.rawValue)" } ?? ""
            let failure =
                attempts.last { $0.failure != nil }?.failure
                ?? Failure(job.failureKind ?? "failed", sent: .unknown, "the job is dead\(reason)")
            return Problem(failure, route: route, job: id, tookAllTime: false)
        }
    }
}

extension JobReplay {
    /// The answer of a job that is over.
    ///
    /// - Throws: `response_not_ready`; what `missing` says where there was none.
    static func answer(
        of job: StoredJob,
        in store: any JobStore,
        missing: () -> Problem
    ) async throws(Problem) -> StoredAnswer {
        guard job.state.isTerminal else {
            throw Problem(
                .responseNotReady,
                "the job is \(job.state.name); ask with Prefer: wait=30, or later",
                route: job.record.route,
                job: job.record.id,
                retryAfter: .seconds(1)
            )
        }
        let (id, route) = (job.record.id, job.record.route)
        let answer = try await store.told(route: route, job: id) { store throws(StoreError) in
            try await store.answer(of: id)
        }
        guard let answer else { throw missing() }
        return answer
    }

    /// Looks whether a body is what was stored, as far as that can be known before the answer begins.
    ///
    /// - Throws: `storage_corrupt`, `storage_failed`; `storage_stalled` for a file behind a disk that does not answer.
    static func check(_ body: StoredBody, of job: StoredJob, _ server: LoopServer) async throws(Problem) {
        let store = server.durable.store
        var patience = StorageDeadline(server.relay.ports, JobOptions())
        let checked: Void? = try await store.told(route: job.record.route, job: job.record.id) {
            store throws(StoreError) in
            try await patience.wait { () throws(StoreError) in try await body.check(in: store) }
        }
        if checked == nil { throw Problem.unreadNow }
    }

    /// There never was an answer.
    static func none(_ job: StoredJob) -> Problem {
        Problem(
            .pathNotFound,
            "the job is \(job.state.name), and no answer of an upstream is kept for it",
            route: job.record.route,
            job: job.record.id
        )
    }

    static func expired(_ job: StoredJob) -> Problem {
        Problem(
            .bodyExpired,
            "the body is no longer kept: it went with its retention, the route's delivery does not keep it, or somebody expunged it",
            route: job.record.route,
            job: job.record.id
        )
    }
}
