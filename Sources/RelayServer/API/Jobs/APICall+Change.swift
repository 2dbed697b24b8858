import RelayCore
import RelayEngine
import RelayHTTP

extension APICall {
    /// Does to one job what the call asks.
    func change(_ id: String, _ part: JobPart, _ connection: Connection) async throws(Problem) -> APIAnswer {
        _ = try Query(self, [])
        let action: JobAction =
            switch part {
            case .action(let action): action
            case .content: .expunge
            case .whole, .attempts, .response, .responseBody, .requestBody: .drop
            }
        let durable = connection.server.durable
        let sight = Sight(connection)
        let job: StoredJob
        do throws(Problem) {
            job = try await sight.find(id, in: durable)
        } catch {
            guard error.code == .jobNotFound, let record = connection.server.engine.recent.find(id),
                sight.sees(record.context.client?.user)
            else { throw error }
            throw APICall.state("the job was answered at once, and is over", record.context.id)
        }
        guard action != .cancel || sight.mayCancel(job) else {
            throw Problem(.notAllowed, "to cancel a job of somebody else takes the role operate")
        }
        let tags = EntityTags(fields, .ifMatch)
        guard tags.isEmpty || tags.has(version: job.version) else { throw Problem.changed(job) }
        // Checked again with the action: the job may have changed since it was looked at.
        let version = tags.isEmpty || tags.hasAny ? nil : job.version
        let id = job.record.id
        let patience = Patience(connection.server.relay.ports, JobOptions())
        let changed = try await patience.write(in: durable.store) { () throws(Problem) in
            try await durable.act(action, on: id, version: version)
        }
        guard let changed else { return APIAnswer(204, []) }
        let document = try await JobView(connection.server).document(of: changed.record.id)
        return APIAnswer(200, document.bytes, fields: [("ETag", document.tag)])
    }

    private static func state(_ detail: String, _ id: JobID) -> Problem {
        var problem = Problem(.jobState, detail)
        problem.job = id
        return problem
    }
}
