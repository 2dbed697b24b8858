package import RelayCore
package import RelayJSON

extension FinishedJob {
    /// The job as the API shows it.
    package func document() -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("id", context.id.description)
        json.member("route", context.route.name)
        json.member(
            "state",
            failure == nil ? "succeeded" : failure?.kind == .cancelled ? "cancelled" : "dead"
        )
        json.member("outcome", outcomeName)
        json.object("request") { request in
            request.member("method", context.method.rawValue)
            request.member("path", context.path)
            if let sentOnceBecause { request.member("sent_once_because", sentOnceBecause) }
        }
        json.member("created_at", UTCTime.format(seconds: acceptedAt))
        json.member("finished_at", UTCTime.format(seconds: finishedAt))
        if let status { json.member("status", status.rawValue) }
        if let source { json.member("source", source.rawValue) }
        json.member("max_attempts", context.maxAttempts)
        json.array("attempts") { attemptDocuments(into: &$0) }
        if let failure {
            json.object("last_failure") { $0.members(of: failure) }
        }
        if let client = context.client {
            json.object("client") { writer in
                writer.member("uid", client.user)
                writer.member("pid", client.process)
                if let unit = client.unit { writer.member("unit", unit) }
            }
        }
        if !context.options.labels.isEmpty {
            json.array("labels") { list in for label in context.options.labels { list.element(label) } }
        }
        json.member("version", 1)
        return json
    }

    /// Only the attempts, as in the whole document.
    package func attemptDocuments(into list: inout JSONArrayWriter) {
        for attempt in attempts { list.object { attempt.write(into: &$0, since: attempts[0].began) } }
    }

    private var outcomeName: String {
        guard failure == nil else { return "failure" }
        switch source {
        case .fallback: return "fallback"
        case .placeholder: return "placeholder"
        case .stale: return "stale"
        case .upstream, nil: return "success"
        }
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

    package mutating func milliseconds(_ name: String, _ duration: Duration) {
        member(name, Double(duration.saturatedNanoseconds / 1000) / 1000)
    }
}

extension Attempt {
    fileprivate func write(into json: inout JSONObjectWriter, since start: Instant) {
        json.member("number", number)
        json.member("upstream", upstream)
        if let address = exchange?.address { json.member("address", address) }
        json.milliseconds("started_after_ms", start.duration(to: began))
        json.milliseconds("duration_ms", duration)
        if exchange?.wasResent == true { json.member("resent", true) }
        if let exchange {
            json.object("timing_ms") { timing in
                timing.milliseconds("dns", exchange.nameLookup)
                timing.milliseconds("connect", exchange.connect)
                if let firstByte = exchange.firstByte { timing.milliseconds("first_byte", firstByte) }
            }
        }
        json.member(
            "result",
            failure == nil ? "success" : failure?.kind == .cancelled ? "cancelled" : "failure"
        )
        if let status { json.member("status", status.rawValue) }
        if let failure {
            json.member("kind", failure.kind.rawValue)
            json.member("sent", failure.sent.rawValue)
            json.member("detail", failure.detail)
            if let code = failure.apiCode { json.member("api_code", code) }
            if let title = failure.apiTitle { json.member("api_title", Quotation.text(title)) }
        }
        if let rule { json.member("rule", rule) }
        if let next {
            json.member("next", next.name)
            switch next {
            case .retry(let wait): json.milliseconds("wait_ms", wait)
            case .failover(let upstream): json.member("next_upstream", upstream)
            case .respond(let source): json.member("next_source", source.rawValue)
            default: break
            }
        }
        if !heldBack.isEmpty {
            json.array("held_back") { list in
                for held in heldBack {
                    list.object {
                        $0.member("rule", held.rule)
                        $0.member("reason", held.reason.text)
                    }
                }
            }
        }
    }
}
