import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayPosix

extension APICall {
    /// The answer to a call to one job.
    func job(_ id: String, _ part: JobPart, _ caller: Caller) async throws(Problem) -> Answer {
        let server = caller.server
        let sight = JobAccess(caller)
        if method == .delete || method == .post {
            return try await change(id, part, caller)
        }
        if case .whole = part { return try await whole(id, caller) }
        let query = try query()
        let window = (
            after: try query.value(JobLook.after),
            limit: try query.value(JobLook.limit)
        )
        let patience = try query.value(JobLook.wait)
        let job: StoredJob
        do throws(Problem) {
            job = try await sight.find(id, in: server.durable)
        } catch {
            guard error.code == .jobNotFound, let record = recent(id, caller) else { throw error }
            return try part.answer(of: record.report)
        }
        switch part {
        case .attempts: return try await attempts(job, query, window, server)
        case .response:
            let preferences = Preferences(fields)
            var finished = job
            if let wait = patience ?? preferences.waitDuration, !job.state.isTerminal {
                finished = try await caller.over(job.record.id, within: wait) ?? job
            }
            return try await server.replay(finished).answer(
                isSubmission: false,
                preferences.wait.map { [("Preference-Applied", "wait=\($0)")] } ?? []
            )
        case .responseBody:
            let replay = server.replay(job)
            return try await raw(replay.answer { replay.none }.body, of: replay)
        case .requestBody:
            let (id, route) = (job.record.id, job.record.route)
            let body = try await server.durable.store.told(route: route, job: id) {
                store throws(StoreError) in
                try await store.body(of: id)
            }
            guard let body else { throw JobAccess.notFound }
            return try await raw(body, of: server.replay(job))
        case .whole, .content, .action: throw JobAccess.notFound
        }
    }

    /// The job itself, now or when it has changed.
    private func whole(_ id: String, _ caller: Caller) async throws(Problem) -> Answer {
        let query = try query()
        let withBodies = try query.value(JobLook.include) ?? false
        let preferences = Preferences(fields)
        let wait = try query.value(JobLook.wait) ?? preferences.waitDuration
        let tags = EntityTags(fields, .ifNoneMatch)
        var job: StoredJob
        do throws(Problem) {
            job = try await JobAccess(caller).find(id, in: caller.server.durable)
        } catch {
            guard error.code == .jobNotFound, let record = recent(id, caller) else { throw error }
            if tags.has(version: 1) { return Answer(304, [], fields: [("ETag", "\"v1\"")]) }
            let job = Job(record.report, finishedAt: record.finishedAt)
            return Answer(200, job.bytes, fields: [("ETag", "\"v1\"")])
        }
        if let wait, tags.isEmpty ? !job.state.isTerminal : tags.has(version: job.version) {
            let known = tags.isEmpty ? nil : job.version
            let id = job.record.id
            job = try await caller.waiting { (durable, time) throws(Problem) in
                try await durable.job(id, changedSince: known, by: time.now().advanced(by: wait), time)
            }
        }
        var fields: [(name: StaticString, value: String)] = []
        if let wait = preferences.wait { fields.append(("Preference-Applied", "wait=\(wait)")) }
        if tags.has(version: job.version) {
            return Answer(304, [], fields: [("ETag", "\"v\(job.version)\"")] + fields)
        }
        let view = JobView(caller.server)
        let document = try await view.document(of: job.record.id, withBodies: withBodies)
        return Answer(200, document.bytes, fields: [("ETag", document.tag)] + fields)
    }

    private func attempts(
        _ job: StoredJob,
        _ query: Query,
        _ window: (after: Int, limit: Int),
        _ server: LoopServer
    ) async throws(Problem) -> Answer {
        let found = try await server.durable.store.told { store throws(StoreError) in
            try await store.attempts(of: job.record.id, after: window.after, limit: window.limit)
        }
        let shown = found.map { Job.Attempt($0, since: job.createdAt) }
        guard found.count == window.limit, let last = found.last, last.number < job.attempts else {
            return Answer(200, AttemptList(attempts: shown, next: nil).bytes)
        }
        let target = query.target(replacing: "after", with: String(last.number))
        return Answer(
            200,
            AttemptList(attempts: shown, next: last.number).bytes,
            fields: [("Link", "<\(target)>; rel=\"next\"")]
        )
    }

    /// A body as it is kept, and nothing that would make a browser read anything into it.
    private func raw(_ body: StoredBody, of replay: JobReplay) async throws(Problem) -> Answer {
        Answer(
            200,
            try await replay.content(of: body),
            type: "application/octet-stream",
            fields: [("X-Content-Type-Options", "nosniff")]
        )
    }

    /// A job that was answered at once, as long as it is remembered.
    private func recent(_ id: String, _ caller: Caller) -> (report: JobReport, finishedAt: Int64)? {
        guard let id = JobID(text: id), let record = caller.server.engine.found(id),
            JobAccess(caller).sees(record.report.user, on: record.report.node)
        else { return nil }
        return record
    }
}

extension APICall.JobPart {
    /// Of a job that was answered at once nothing but its attempts is kept.
    fileprivate func answer(of report: JobReport) throws(Problem) -> Answer {
        guard case .attempts = self else {
            throw Problem(
                .bodyExpired,
                "the job was answered at once; bodies are kept of durable jobs only (Prefer: respond-async)",
                job: report.id
            )
        }
        let attempts = Job(report, finishedAt: 0).listedAttempts ?? []
        return Answer(200, AttemptList(attempts: attempts, next: nil).bytes)
    }
}
