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
    /// The daemon of a fleet on whose machine they are that user.
    let node: NodeName

    var isUnlimited: Bool { role.includes(.read) }

    func sees(_ owner: UInt32?, on node: NodeName) -> Bool { isUnlimited || owns(owner, node) }

    private func owns(_ owner: UInt32?, _ node: NodeName) -> Bool {
        user != nil && user == owner && self.node.shares(users: node)
    }

    private func owns(_ job: StoredJob) -> Bool {
        job.record.submitter.map { owns($0.user, $0.node) } ?? false
    }

    /// Whether they may be told more of a kept job than its id: an idempotency key of callers whom the kernel has no name
    /// for is one for all of them.
    func mayLearn(_ accepted: Acceptance.Accepted) -> Bool {
        !accepted.isReplayed || isUnlimited || user != nil
    }

    /// Whether they may end the job.
    func mayCancel(_ job: StoredJob) -> Bool {
        role.includes(.operate) || owns(job)
    }

    /// Narrows a filter to what may be seen.
    ///
    /// - Throws: `not_allowed` for somebody the kernel has no name for.
    func narrow(_ filter: inout JobFilter) throws(Problem) {
        try check()
        if !isUnlimited { (filter.user, filter.node) = (user, node) }
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
        guard isUnlimited || owns(job) else { throw JobAccess.notFound }
        return job
    }

    static let notFound = Problem(
        .jobNotFound,
        "no job that you may see has this id: jobs on disk go with their retention, those answered at once after the last 1024"
    )
}

extension JobAccess {
    init(_ caller: Caller) {
        self.init(role: caller.role, user: caller.client?.user, node: caller.client?.node ?? .none)
    }
}
