package import RelayBase
import RelayCore
package import RelayEngine
package import RelayJSON
package import RelayJobs

/// A durable job as the API shows it, in the words of a finished synchronous one; never a field of its request.
package struct DurableDocument {
    package var job: StoredJob
    /// The last ones; nil leaves the list out.
    package var attempts: [Attempt]?
    /// The actions on it, oldest first.
    package var actions: [ActionRecord] = []
    /// Of the whole job, as the caller and the route bound it; nil when the route is gone.
    package var maxAttempts: Int?
    package var blocker: Blocker?
    /// The last answer's status, and who made it.
    package var answer: (status: Status, source: AnswerSource)?
    /// Writes the request's body into the member `request`.
    package var requestBody: ((inout JSONObjectWriter) -> Void)?

    package init(_ job: StoredJob) { self.job = job }

    package func json() -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("id", job.record.id.description)
        json.member("route", job.record.route)
        json.member("state", job.state.name)
        if let reason { json.member("reason", reason) }
        if let end = job.end { json.member("end", end.rawValue) }
        if let outcome { json.member("outcome", outcome) }
        if job.isCancelAsked { json.member("cancel_asked", true) }
        json.object("request") { request in
            request.member("method", job.record.method.rawValue)
            request.member("path", "/" + job.record.target.prefix { $0 != "?" })
            request.member("size", job.bodyLength)
            requestBody?(&request)
        }
        writeTimes(into: &json)
        if let answer {
            json.member("status", answer.status.rawValue)
            json.member("source", answer.source.rawValue)
        }
        if let maxAttempts { json.member("max_attempts", maxAttempts) }
        json.member("attempt_count", job.attempts)
        json.member("spent_attempts", job.spentAttempts)
        if job.state == .running, let begun = job.begun {
            json.object("under_way") { writer in
                writer.member("number", job.attempts + 1)
                writer.member("upstream", begun.upstream)
                writer.moment("started_at", begun.beganAt)
                if begun.isResent { writer.member("resent", true) }
            }
        }
        if job.crashes > 0 { json.member("crashes", job.crashes) }
        if let attempts {
            json.array("attempts") { list in
                for attempt in attempts { list.object { attempt.write(into: &$0, since: job.createdAt) } }
            }
        }
        if !actions.isEmpty {
            json.array("actions") { list in for action in actions { list.object { action.write(into: &$0) } }
            }
        }
        writeFailure(into: &json)
        if let blocker {
            json.object("blocker") { writer in
                writer.member("reason", blocker.reason)
                writer.member("detail", blocker.detail)
                writer.moment("since", blocker.since)
                writer.moment("until", blocker.until)
            }
        }
        writeRecord(into: &json)
        return json
    }

    /// The job's own, or that of its route where the job has none.
    private var reason: String? {
        if let reason = job.reason { return reason.name }
        guard job.state == .queued || job.state == .retrying else { return nil }
        return blocker.flatMap { $0.reason == WaitReason.routePaused.name ? $0.reason : nil }
    }

    private func writeTimes(into json: inout JSONObjectWriter) {
        json.moment("created_at", job.createdAt)
        if !job.state.isTerminal, job.state != .running {
            json.moment("due_at", job.runAt)
        }
        json.moment("expires_at", job.expiresAt)
        json.moment("finished_at", job.finishedAt)
    }

    private func writeFailure(into json: inout JSONObjectWriter) {
        guard job.state != .succeeded else { return }
        if let last = attempts?.last(where: { $0.failure != nil }), let failure = last.failure {
            json.object("last_failure") { writer in
                writer.members(of: failure)
                writer.member("upstream", last.upstream)
            }
        } else if let kind = job.failureKind {
            json.object("last_failure") { writer in
                writer.member("kind", kind.rawValue)
                if let status = job.failureStatus { writer.member("status", status.rawValue) }
            }
        }
    }

    private func writeRecord(into json: inout JSONObjectWriter) {
        if let submitter = job.record.submitter {
            json.object("client") { writer in
                writer.member("uid", submitter.user)
                if let unit = submitter.unit { writer.member("unit", unit) }
            }
        }
        if !job.record.labels.isEmpty {
            json.strings("labels", job.record.labels)
        }
        json.member("keyed", job.record.idempotencyKey != nil)
        json.member("repeatable", job.record.mayRepeat)
        if job.isInDoubt { json.member("in_doubt", true) }
        if let key = job.record.orderingKey, key != JobRecord.routeOrder { json.member("ordering_key", key) }
        if let key = job.record.supersedeKey { json.member("supersede_key", key) }
        json.member("priority", job.record.priority)
        json.member("durable", true)
        json.member("version", job.version)
        json.links(of: job.record.id, hasBody: job.hasBody, hasAnswer: job.hasAnswer)
    }

    private var outcome: String? {
        guard job.state.isTerminal else { return nil }
        return OutcomeWord(answer?.source, isFailure: job.state != .succeeded).rawValue
    }
}

extension ActionRecord {
    fileprivate func write(into json: inout JSONObjectWriter) {
        json.member("action", action.rawValue)
        json.moment("at", at)
        if let by {
            json.member("uid", by.user)
            if let name = by.name { json.member("user", name) }
        }
        if isBulk { json.member("bulk", true) }
        if isAsked { json.member("asked", true) }
    }
}

extension JSONObjectWriter {
    /// By whom something was done.
    package mutating func principal(_ principal: Principal?, as name: String = "by") {
        guard let principal else { return }
        object(name) { by in
            by.member("uid", principal.user)
            if let name = principal.name { by.member("user", name) }
        }
    }

    /// Where more of a job is found.
    mutating func links(of id: JobID, hasBody: Bool = false, hasAnswer: Bool = false) {
        let path = "/v1/jobs/\(id)"
        object("links") { links in
            links.member("self", path)
            links.member("attempts", path + "/attempts")
            if hasBody { links.member("request_body", path + "/request/body") }
            if hasAnswer { links.member("response", path + "/response") }
        }
    }
}
