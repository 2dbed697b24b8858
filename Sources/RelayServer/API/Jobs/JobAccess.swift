import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute

/// Which jobs a caller may see: their own, or all with the role `read`.
struct JobAccess {
    let role: Role
    let user: UInt32?

    init(_ caller: Caller) {
        role = caller.role
        user = caller.client?.user
    }

    var isUnlimited: Bool { role.includes(.read) }

    func sees(_ owner: UInt32?) -> Bool { isUnlimited || user != nil && user == owner }

    /// Whether they may be told more of a kept job than its id: an idempotency key of callers whom the kernel has no name
    /// for is one for all of them.
    func mayLearn(_ accepted: Acceptance.Accepted) -> Bool {
        !accepted.isReplayed || isUnlimited || user != nil
    }

    /// Whether they may end the job.
    func mayCancel(_ job: StoredJob) -> Bool {
        role.includes(.operate) || user != nil && user == job.record.submitter?.user
    }

    /// Narrows a filter to what may be seen.
    ///
    /// - Throws: `not_allowed` for somebody the kernel has no name for.
    func narrow(_ filter: inout JobFilter) throws(Problem) {
        try check()
        if !isUnlimited { filter.user = user }
    }

    /// - Throws: `not_allowed` for somebody the kernel has no name for, who can have no jobs.
    func check() throws(Problem) {
        guard !isUnlimited, user == nil else { return }
        throw Problem(
            .notAllowed,
            "a caller without peer credentials has no jobs of their own: use a Unix socket"
        )
    }

    /// The job of that id.
    ///
    /// - Throws: `job_not_found` also for a job that may not be seen: whether it exists is not said.
    func find(_ text: String, in durable: DurableJobs) async throws(Problem) -> StoredJob {
        guard let id = JobID(text: text) else { throw JobAccess.notFound }
        let job: StoredJob
        do throws(Problem) {
            job = try await durable.store.present(id)
        } catch {
            throw error.code == .jobNotFound ? JobAccess.notFound : error
        }
        guard sees(job.record.submitter?.user) else { throw JobAccess.notFound }
        return job
    }

    static let notFound = Problem(
        .jobNotFound,
        "no job that you may see has this id: jobs on disk go with their retention, those answered at once after the last 1024"
    )
}
