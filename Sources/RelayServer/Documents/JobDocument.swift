package import RelayCore
package import RelayEngine
package import RelayJSON

extension FinishedJob {
    /// The job as the API shows it.
    package func document() -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("id", report.id.description)
        json.member("route", report.route)
        json.member("state", report.state.name)
        json.member("outcome", OutcomeWord(report.source, isFailure: report.failure != nil).rawValue)
        json.object("request") { request in
            if let context = report.context {
                request.member("method", context.method.rawValue)
                request.member("path", context.path)
            }
            if let reason = report.sentOnceBecause { request.member("sent_once_because", reason) }
        }
        json.member("created_at", UTCTime.format(seconds: report.id.milliseconds / 1000))
        json.member("finished_at", UTCTime.format(seconds: finishedAt / 1000))
        if let status = report.status { json.member("status", status.rawValue) }
        if let source = report.source { json.member("source", source.rawValue) }
        if let context = report.context { json.member("max_attempts", context.maxAttempts) }
        json.array("attempts") { attemptDocuments(into: &$0) }
        if let failure = report.failure {
            json.object("last_failure") { $0.members(of: failure) }
        }
        if let client = report.context?.client {
            json.object("client") { writer in
                writer.member("uid", client.user)
                writer.member("pid", client.process)
                if let unit = client.unit { writer.member("unit", unit) }
            }
        }
        if let labels = report.context?.options.labels, !labels.isEmpty {
            json.array("labels") { list in for label in labels { list.element(label) } }
        }
        json.member("version", 1)
        return json
    }

    /// Only the attempts, as in the whole document.
    package func attemptDocuments(into list: inout JSONArrayWriter) {
        let attempts = report.attempts
        for attempt in attempts { list.object { attempt.write(into: &$0, since: attempts[0].beganAt) } }
    }
}

extension JSONObjectWriter {
    /// What a failure is, wherever the API tells of one.
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
