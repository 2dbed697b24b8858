import RelayCore
import RelayEngine

/// The answer of a job that is over, as its caller would have had it while waiting.
struct JobReplay {
    private let job: StoredJob
    private let server: LoopServer
    private var store: any JobStore { server.durable.store }
    private let extra: [(name: StaticString, value: String)]
    /// Whether it answers the submission itself, which then is told what a caller that waits is told.
    private let isSubmission: Bool

    /// Attempts told of in the answer's fields.
    private static let attemptLimit = 20

    init(
        _ job: StoredJob,
        _ server: LoopServer,
        isSubmission: Bool,
        extra: [(name: StaticString, value: String)] = []
    ) {
        self.job = job
        self.isSubmission = isSubmission
        self.server = server
        self.extra = extra
    }

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
        do throws(StoreError) {
            return try await store.attempts(
                of: job.record.id,
                after: max(0, job.attempts - JobReplay.attemptLimit),
                limit: JobReplay.attemptLimit
            )
        } catch {
            throw Problem(error)
        }
    }

    /// What is said where no upstream answered.
    private func failure(_ attempts: [Attempt]) -> Problem {
        let id = job.record.id
        let route = job.record.route
        switch job.state {
        case .expired:
            var problem = Problem(.deadlineExceeded, "the job expired before it could be delivered")
            problem.route = route
            problem.job = id
            return problem
        case .cancelled:
            var problem = Problem(.jobState, "the job was cancelled")
            problem.route = route
            problem.job = id
            return problem
        default:
            let last = attempts.last { $0.failure != nil }?.failure
            let reason = job.end.map { ": \($0.rawValue)" } ?? ""
            let failure =
                last
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
            var problem = Problem(
                .responseNotReady,
                "the job is \(job.state.name); ask with Prefer: wait=30, or later"
            )
            problem.job = job.record.id
            problem.route = job.record.route
            problem.retryAfter = .seconds(1)
            throw problem
        }
        let answer: StoredAnswer?
        do throws(StoreError) {
            answer = try await store.answer(of: job.record.id)
        } catch {
            throw unread(error, job)
        }
        guard let answer else { throw missing() }
        return answer
    }

    /// Looks whether a body is what was stored, as far as that can be known before the answer begins.
    ///
    /// - Throws: `storage_corrupt`, `storage_failed`; `storage_stalled` for a file behind a disk that does not answer.
    static func check(_ body: StoredBody, of job: StoredJob, _ server: LoopServer) async throws(Problem) {
        let store = server.durable.store
        let work = { @Sendable () async -> Result<Void, StoreError> in
            do throws(StoreError) {
                return .success(try await body.check(in: store))
            } catch {
                return .failure(error)
            }
        }
        var patience = Patience(server.relay.ports, JobOptions())
        let outcome = await patience.wait(for: work)
        guard let outcome else { throw Problem.unreadNow }
        do throws(StoreError) { try outcome.get() } catch { throw unread(error, job) }
    }

    /// The store could not give what belongs to the job.
    static func unread(_ error: StoreError, _ job: StoredJob) -> Problem {
        var problem = Problem(error, route: job.record.route)
        problem.job = job.record.id
        return problem
    }

    /// There never was an answer.
    static func none(_ job: StoredJob) -> Problem {
        var problem = Problem(
            .pathNotFound,
            "the job is \(job.state.name), and no answer of an upstream is kept for it"
        )
        problem.job = job.record.id
        problem.route = job.record.route
        return problem
    }

    static func expired(_ job: StoredJob) -> Problem {
        var problem = Problem(
            .bodyExpired,
            "the body is no longer kept: it went with its retention, the route's delivery does not keep it, or somebody expunged it"
        )
        problem.job = job.record.id
        problem.route = job.record.route
        return problem
    }
}
