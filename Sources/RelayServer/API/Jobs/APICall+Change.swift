import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJobs

extension APICall {
    /// Does to one job what the call asks.
    func change(_ id: String, _ part: JobPart, _ caller: Caller) async throws(Problem) -> Answer {
        let query = try query()
        let action: JobAction =
            switch part {
            case .action(let action): action
            case .content: .expunge
            case .whole, .attempts, .response, .responseBody, .requestBody: .drop
            }
        let takesSuperseded = try query.value(JobLook.superseded) ?? false
        let durable = caller.server.durable
        let sight = JobAccess(caller)
        let job: StoredJob
        do throws(Problem) {
            job = try await sight.find(id, in: durable)
        } catch {
            guard error.code == .jobNotFound, let known = JobID(text: id),
                let record = caller.server.engine.found(known),
                sight.sees(record.report.user, on: record.report.node)
            else { throw error }
            throw Problem(.jobState, "the job was answered at once, and is over", job: known)
        }
        guard action != .cancel || sight.mayCancel(job) else {
            throw Problem(.notAllowed, "to cancel a job of somebody else takes the role operate")
        }
        let tags = EntityTags(fields, .ifMatch)
        guard tags.isEmpty || tags.has(version: job.version) else { throw Problem.changed(job) }
        // Checked again with the action: the job may have changed since it was looked at.
        let version = tags.isEmpty || tags.hasAny ? nil : job.version
        let id = job.record.id
        let patience = StorageDeadline(caller.server.relay.ports, JobOptions())
        let principal = await caller.principal()
        let changed = try await patience.write(in: durable.store) { () throws(Problem) in
            try await durable.operations.act(
                action,
                on: id,
                version: version,
                takesSuperseded: takesSuperseded,
                by: principal
            )
        }
        guard let changed else { return Answer(204, []) }
        let document = try await JobView(caller.server).document(of: changed.record.id)
        return Answer(200, document.bytes, fields: [("ETag", document.tag)])
    }
}
