package import RelayBase
package import RelayCore
import RelayEngine
package import RelayJSON
import RelayJobs
import RelayRoute

extension JobReport {
    /// A job that was answered when it was done, as the API shows it; it ended at that many milliseconds since 1970 UTC.
    package func document(finishedAt: Int64) -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("id", id.description)
        json.member("route", route)
        json.member("state", state.name)
        json.member("outcome", OutcomeWord(source, isFailure: failure != nil).rawValue)
        json.object("request") { request in
            if let context = context {
                request.member("method", context.method.rawValue)
                request.member("path", context.path)
            }
            if let reason = sentOnceBecause { request.member("sent_once_because", reason) }
        }
        json.moment("created_at", id.milliseconds)
        json.moment("finished_at", finishedAt)
        if let status = status { json.member("status", status.rawValue) }
        if let source = source { json.member("source", source.rawValue) }
        writeKeeping(into: &json)
        if let context = context { json.member("max_attempts", context.maxAttempts) }
        if let wait = permitWait { json.member("permit_wait_ms", wait.saturatedNanoseconds / 1_000_000) }
        if let path = context?.way.path { json.ordinaryPath(path) }
        json.member("attempt_count", attempts.count)
        json.array("attempts") { attemptDocuments(into: &$0) }
        if let failure = failure {
            json.object("last_failure") { $0.members(of: failure) }
        }
        if let client = context?.client {
            json.object("client") { writer in
                writer.member("uid", client.user)
                writer.member("pid", client.process)
                if let unit = client.unit { writer.member("unit", unit) }
            }
        }
        if let labels = context?.options.labels, !labels.isEmpty {
            json.strings("labels", labels)
        }
        json.member("version", 1)
        json.links(of: id)
        return json
    }

    /// Whether a request that was answered in the upstream's stead goes on as a kept job, and as which.
    package func writeKeeping(into json: inout JSONObjectWriter) {
        if let job = keptJob {
            json.object("kept") { kept in
                kept.member("job", job.id.description)
                kept.member("location", "/v1/jobs/\(job.id)")
                if job.isReplayed { kept.member("replayed", true) }
            }
        } else if let reason = notKeptBecause {
            json.member("not_kept_because", reason)
        }
    }

    /// Only the attempts, as in the whole document.
    package func attemptDocuments(into list: inout JSONArrayWriter) {
        for attempt in attempts { list.object { attempt.write(into: &$0, since: attempts[0].beganAt) } }
    }
}

extension JSONObjectWriter {
    /// Why a request, or each of a route, was not passed through.
    mutating func ordinaryPath(_ path: RequestPath) {
        object("ordinary_path") { way in
            way.member("reason", path.reason)
            way.member("detail", path.sentence)
        }
    }

    /// The members of a failure, wherever the API tells of one.
    package mutating func members(of failure: Failure) {
        member("kind", failure.kind.rawValue)
        member("detail", failure.detail)
        member("sent", failure.sent.rawValue)
        if let status = failure.status { member("status", status.rawValue) }
        if let code = failure.apiCode { member("api_code", code) }
        if let title = failure.apiTitle { member("api_title", Quotation.text(title)) }
        if failure.isPastDeadline { member("past_deadline", true) }
    }
}
