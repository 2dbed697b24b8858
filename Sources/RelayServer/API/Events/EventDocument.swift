import RelayBase
import RelayCore
package import RelayEngine
import RelayInterface
import RelayJSON
package import RelayJobs

/// An event as one line of JSON with the attributes of CloudEvents 1.0.
package enum EventDocument {
    /// `node` is the daemon of a fleet that tells it.
    static func json(_ told: EventFeed.Entry, from node: NodeName) -> [UInt8] {
        let event = told.event
        var json = begin(told.kind, at: told.at, from: event.elsewhere?.teller ?? node)
        json.member("id", String(told.number))
        if let subject = event.job?.description ?? event.route { json.member("subject", subject) }
        json.member("data", json: event.elsewhere?.data ?? data(of: event))
        return json.bytes
    }

    private static func data(of event: JobEvent) -> [UInt8] {
        var data = JSONObjectWriter()
        if let route = event.route { data.member("route", route) }
        if let job = event.job { data.member("job", job.description) }
        if let user = event.user, user != JobRecord.Submitter.ofNotices.user { data.member("uid", user) }
        if let node = event.node.text { data.member("node", node) }
        data.members(of: event)
        return data.bytes
    }

    /// The event as other daemons of the fleet are told of it; nil of one of theirs.
    package static func shared(_ told: EventFeed.Entry) -> SharedEvent? {
        guard told.event.elsewhere == nil else { return nil }
        var shared = SharedEvent(told.kind, at: told.at, data: data(of: told.event))
        (shared.user, shared.node) = (told.event.user, told.event.node)
        (shared.route, shared.job) = (told.event.route, told.event.job)
        return shared
    }

    /// Events a reader was too slow for, or which are no longer there; the last of them has the number `last`.
    ///
    /// How many is not said where nobody knows.
    static func gap(_ gap: EventFeed.Gap, last: UInt64, at milliseconds: Int64) -> [UInt8] {
        var json = begin(.gap, at: milliseconds)
        json.member("id", String(last))
        json.object("data") { data in
            if case .lost(let count) = gap { data.member("lost", count) }
        }
        return json.bytes
    }

    /// Has no number: it is nothing to go on after.
    static func heartbeat(at milliseconds: Int64) -> [UInt8] {
        begin(.heartbeat, at: milliseconds).bytes
    }

    private static func begin(
        _ kind: EventKind,
        at milliseconds: Int64,
        from node: NodeName = .none
    ) -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("specversion", "1.0")
        json.member("source", "/waystationd\(node.text.map { "/\($0)" } ?? "")")
        json.member("type", kind.type)
        WallTime(milliseconds: milliseconds).write("time", into: &json)
        json.member("datacontenttype", "application/json")
        return json
    }
}

extension JSONObjectWriter {
    /// The members that an event has besides those that tell whom it is about.
    fileprivate mutating func members(of event: JobEvent) {
        switch event {
        case .attemptBegan(_, let attempt):
            member("attempt", attempt.number)
            member("upstream", attempt.upstream)
        case .attemptFailed(_, let attempt): members(of: attempt)
        case .lookedUp(_, let attempt):
            members(of: attempt)
            member("look_up", attempt.word.rawValue)
        case .changed(let report), .ended(let report): members(of: report)
        case .requestRefused(let refused):
            member("status", refused.status.rawValue)
            member("code", refused.code)
            member("detail", "\(refused.method.map { "\($0.rawValue): " } ?? "")\(refused.detail)")
        case .routePaused(_, let pause):
            member("detail", pause.reason)
            if let rule = pause.rule { member("rule", rule) }
            pause.by?.write("by", into: &self)
        case .routeResumed(_, let by): by?.write("by", into: &self)
        case .routeShut(_, let until):
            if let until { member("until", UTCTime.format(seconds: until)) }
        case .breakerChanged(_, let change):
            member("upstream", change.upstream)
            member("state", change.probeIn == nil ? "closed" : "open")
            change.probeIn?.write("wait_ms", into: &self)
        case .credentialRefreshed(let name, let expiresIn):
            let validity = expiresIn.map { ", valid for \(DurationText.text($0))" } ?? ""
            member("detail", "credential \(name)\(validity)")
        case .credentialFailed(let name, let detail):
            member("kind", FailureKind.credentialsFailed.rawValue)
            member("detail", "credential \(name): \(detail)")
        case .notice(_, let detail, let act):
            if let upstream = act?.upstream { member("upstream", upstream) }
            if let state = act?.state { member("state", state) }
            if let previous = act?.previous { member("previous", previous) }
            if let detail { member("detail", detail) }
            act?.by?.write("by", into: &self)
        case .accepted(let report):
            guard let source = report.answeredWith else { return }
            member("source", source.rawValue)
            member("attempt", report.attemptCount)
            member("detail", "answered with the \(source.rawValue); the request goes on as a kept job")
        case .runChanged(let run): members(of: run)
        case .pinsMissed, .dropped, .jobsChanged, .bodyFoundNoSpace, .pauseWanted, .elsewhere: break
        }
    }

    private mutating func members(of run: ActionRun) {
        member("run", run.number)
        member("action", run.action.rawValue)
        if run.state == .running {
            if let total = run.total { member("total", total) }
            if let why = run.why { member("detail", why) }
            run.by?.write("by", into: &self)
        } else {
            member("state", run.state.rawValue)
            member("matched", run.count.matched)
            member("changed", run.count.changed)
            if let failure = run.failure { member("detail", failure) }
            run.endedBy?.write("by", into: &self)
        }
    }

    private mutating func members(of attempt: Attempt) {
        member("attempt", attempt.number)
        if let status = attempt.status { member("status", status.rawValue) }
        if let failure = attempt.failure {
            member("kind", failure.kind.rawValue)
            member("detail", failure.detail)
        }
        if let rule = attempt.rule { member("rule", rule) }
        switch attempt.next {
        case .retry(let wait)?, .verify(let wait)?, .follow(let wait, _)?: wait.write("wait_ms", into: &self)
        default: break
        }
    }

    private mutating func members(of report: JobReport) {
        if report.attemptCount > 0 { member("attempt", report.attemptCount) }
        if let status = report.attempts.last?.status { member("status", status.rawValue) }
        if let failure = report.failure {
            member("kind", failure.kind.rawValue)
            member("detail", failure.detail)
        }
        if let end = report.end { member("end", end.rawValue) }
    }
}
