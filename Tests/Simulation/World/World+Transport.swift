import RelayBase
import RelayCore
import RelayRoute

// The transport, under the contract of a real one: what is cancelled or late is refused unsent, and an answer that does
// not come by the deadline is a failure at the deadline.
extension Confined where Value == World {
    func take(_ request: OutboundRequest, _ port: UInt16) async throws(Failure) -> InboundResponse {
        if port >= Origin.endpointPort { return try await ask(request, Int(port - Origin.endpointPort)) }
        return try await attempt(request, Int(port - Origin.upstreamPort))
    }

    private func attempt(_ request: OutboundRequest, _ upstream: Int) async throws(Failure) -> InboundResponse
    {
        let job = request.fields.jobNumber
        var reply = value.began(request, job: job, upstream: upstream)
        if reply.kind.isSent, case .stream(let source) = request.body {
            while try await source.next() != nil {}
        }
        let now = value.timeline.now
        var at = now.addingReportingOverflow(reply.after).partialValue
        let idleEnd = now + request.timeouts.idle.saturatedNanoseconds
        if at > idleEnd, reply.kind.isSent {
            reply.kind = .fails(.connectionReadTimeout, .unknown)
            at = idleEnd
        }
        let isPatient = value.plant == .lateTransport
        if at >= request.deadline.nanoseconds, reply.after > 0, !isPatient {
            let isSent = reply.kind.isSent
            reply.kind =
                isSent ? .fails(.httpResponseTimeout, .unknown) : .fails(.connectionTimeout, .neverSent)
            at = request.deadline.nanoseconds
        }
        guard await pause(until: at) else {
            let sent: Sent = reply.kind.isSent ? .unknown : .neverSent
            value.checker.gave(job, .fails(.cancelled, sent), nil)
            throw Failure(.cancelled, sent: sent, "cancelled")
        }
        switch reply.kind {
        case .fails(let kind, let sent):
            value.checker.gave(job, reply.kind, nil)
            let isTwisted = value.plant == .wrongVerdict
            throw Failure(kind, sent: isTwisted && sent == .unknown ? .neverSent : sent, "simulated")
        case .answers(let answer): return inbound(answer, job, timeouts(of: job))
        }
    }

    /// As the checker believes them to be.
    private func timeouts(of job: Int) -> Timeouts {
        value.checker.jobs[job]?.route.policy.timeouts ?? Timeouts()
    }

    private func inbound(_ answer: Answer, _ job: Int, _ timeouts: Timeouts) -> InboundResponse {
        var lines = [
            (name: "Content-Type", value: answer.isJSON ? "application/json; charset=utf-8" : "text/html")
        ]
        lines += (answer.retryAfter?.values ?? []).map { ("retry-After", $0) }
        if let location = answer.location { lines.append(("Location", location.text)) }
        let content = value.documents[answer.document.rawValue]
        var stream: StreamRecord?
        var body: Body = content.isEmpty ? .empty : .bytes(content)
        if answer.flow.isStream {
            let record = StreamRecord()
            stream = record
            let source = SimulatedBody(self, record, .job(job), content, answer.flow, timeouts)
            if value.plant == .leakedBody { value.hoard.append(source) }
            body = .stream(source)
        }
        value.checker.gave(job, .answers(answer), stream)
        return InboundResponse(Status(rawValue: answer.status), lines, body)
    }

    private func ask(_ request: OutboundRequest, _ credential: Int) async throws(Failure) -> InboundResponse {
        let reply = value.asked(request, credential: credential)
        let at = value.timeline.now + reply.after
        guard at < request.deadline.nanoseconds else {
            _ = await pause(until: request.deadline.nanoseconds)
            value.checker.tokenFailed(credential)
            throw Failure(.httpResponseTimeout, sent: .unknown, "simulated")
        }
        _ = await pause(until: at)
        switch reply.kind {
        case .fails(let kind):
            value.checker.tokenFailed(credential)
            throw Failure(kind, sent: .unknown, "simulated")
        case .answers(let status, let text, let isStream, let breaks, let grant):
            let content = Array(text.utf8)
            guard isStream else {
                value.checker.tokenAnswered(credential, grant)
                return InboundResponse(
                    Status(rawValue: status),
                    [],
                    content.isEmpty ? .empty : .bytes(content)
                )
            }
            var flow = Flow(isStream: true, isAnnounced: true, pieces: 2, gap: 7_000_000)
            flow.breaksAfter = breaks ? 1 : nil
            let owner = SimulatedBody.Owner.credential(credential, grant)
            let body = SimulatedBody(self, StreamRecord(), owner, content, flow, Timeouts())
            return InboundResponse(Status(rawValue: status), [], .stream(body))
        }
    }
}
