package import RelayBase
package import RelayCore
import RelayInterface
package import RelayJobs

/// The answer of a job that is over, as the store has it.
package struct JobReplay {
    package let job: StoredJob
    private let durable: DurableJobs
    private let ports: RelayPorts
    private var store: any JobStore { durable.store }

    /// Attempts told of in the answer's fields.
    private static let attemptLimit = 20

    package init(of job: StoredJob, in durable: DurableJobs, _ ports: RelayPorts) {
        (self.job, self.durable, self.ports) = (job, durable, ports)
    }

    /// Its last attempts.
    package func attempts() async throws(Problem) -> [Attempt] {
        try await store.told { store throws(StoreError) in
            try await store.attempts(
                of: job.record.id,
                after: max(0, job.attempts - JobReplay.attemptLimit),
                limit: JobReplay.attemptLimit
            )
        }
    }

    /// - Throws: `response_not_ready`; what `missing` says where there was none.
    package func answer(missing: () -> Problem) async throws(Problem) -> StoredAnswer {
        let (id, route) = (job.record.id, job.record.route)
        guard job.state.isTerminal else {
            throw Problem(
                .responseNotReady,
                "the job is \(job.state.name); ask with Prefer: wait=30, or later",
                route: route,
                job: id,
                retryAfter: .seconds(1)
            )
        }
        let answer = try await store.told(route: route, job: id) { store throws(StoreError) in
            try await store.answer(of: id)
        }
        guard let answer else { throw missing() }
        return answer
    }

    /// A body of the job, which is what was stored, as far as that can be known before the answer begins.
    ///
    /// - Throws: `body_expired`; `storage_corrupt`, `storage_failed`; `storage_stalled` for a file behind a disk that
    ///   does not answer.
    package func content(of body: StoredBody) async throws(Problem) -> Body {
        var patience = StorageDeadline(ports, JobOptions())
        let (id, route) = (job.record.id, job.record.route)
        let checked: Void? = try await store.told(route: route, job: id) { store throws(StoreError) in
            try await patience.wait { () throws(StoreError) in try await body.check(in: store) }
        }
        if checked == nil { throw Problem.unreadNow(store) }
        if let content = body.body(from: store) { return content }
        throw Problem(
            .bodyExpired,
            "the body is no longer kept: it went with its retention, the route's delivery does not keep it, or somebody expunged it",
            route: route,
            job: id
        )
    }

    /// There never was an answer.
    package var none: Problem {
        Problem(
            .pathNotFound,
            "the job is \(job.state.name), and no answer of an upstream is kept for it",
            route: job.record.route,
            job: job.record.id
        )
    }

    /// The problem that a caller who waits is told where no upstream answered.
    package func failure(_ attempts: [Attempt]) -> Problem {
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
