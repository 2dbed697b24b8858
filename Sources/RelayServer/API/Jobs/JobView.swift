import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

/// Jobs as documents.
struct JobView {
    private let server: LoopServer
    private var store: any JobStore { server.durable.store }

    /// Attempts in a document; older ones stand under `/attempts`.
    static let attemptLimit = 100

    init(_ server: LoopServer) { self.server = server }

    /// One job as it is now and the tag of what is shown of it, with its attempts and what keeps it from being delivered.
    ///
    /// To whom it `answers` the job itself it gives the answer whole; to anybody else the fields of the request, too,
    /// and all without the values of `log.redact_headers`.
    ///
    /// - Throws: `job_not_found`, `storage_failed`.
    func document(
        of id: JobID,
        withBodies: Bool = false,
        answers: Bool = false
    ) async throws(Problem) -> (bytes: [UInt8], tag: String) {
        let extent = WholeJob.Extent(attempts: JobView.attemptLimit, hasBodies: withBodies)
        let found = try await store.told { store throws(StoreError) in try await store.whole(id, extent) }
        guard let whole = found else { throw JobAccess.notFound }
        let (job, answer) = (whole.job, whole.answer)
        var view = outline(job)
        view.take(whole)
        if job.reason == .following, let look = whole.attempts.last, look.lookUp == .unanswered,
            let failure = look.failure
        {
            let status = failure.status.map { " \($0.rawValue)" } ?? ""
            view.blocker?.detail += "; a look at it failed with \(failure.kind.rawValue)\(status)"
        }
        let path = "/v1/jobs/\(id)"
        let hidden = answers ? [] : server.engine.snapshot.settings.redactedHeaders
        if withBodies, !answers {
            let fields = job.record.fields
            view.request.writeFields = { JobAnswer.write(fields, hiding: hidden, into: &$0) }
        }
        if let request = whole.body {
            view.request.writeBody = { JobAnswer.write(request, href: path + "/request/body", into: &$0) }
        }
        if whole.hasDamagedBody {
            view.request.writeBody = { $0.object("body") { $0.member("damaged", true) } }
        }
        var json = JSONObjectWriter()
        json.members(of: view)
        if withBodies, let answer {
            json.object("response") { writer in
                writer.member("source", answer.source.rawValue)
                JobAnswer.writeHead(answer.status, answer.fields, hiding: hidden, into: &writer)
                JobAnswer.write(answer.body, href: path + "/response/body", into: &writer)
            }
        }
        if whole.hasDamagedAnswer { json.object("response") { $0.member("damaged", true) } }
        return (json.bytes, "\"v\(job.version)\"")
    }

    /// One job of a list: what its row tells.
    func line(_ job: StoredJob) -> [UInt8] { outline(job).bytes }

    private func outline(_ job: StoredJob) -> Job {
        var view = Job(job)
        view.take(server.durable.blocker(of: job))
        if let policy = server.engine.snapshot.routes[job.record.route]?.route.policy {
            let limit = policy.delivery.maxAttempts ?? policy.maxAttempts
            view.maxAttempts = job.record.bounds.maxAttempts.map { min($0, limit) } ?? limit
        }
        return view
    }
}
