import RelayBase
import RelayCore
import RelayRoute

/// Hands every attempt to the world's upstreams, under the contract of a real transport: what is cancelled or late
/// is refused unsent, and an answer that does not come by the deadline is a failure at the deadline.
final class SimulatedTransport: Transport {
    private let world: Confined<World>

    init(_ world: Confined<World>) { self.world = world }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard case .tcp(_, let port, _) = request.upstream.origin else {
            throw Failure(.destinationUnavailable, sent: .neverSent, "simulated")
        }
        if port >= World.endpointPort { return try await ask(request, Int(port - World.endpointPort)) }
        return try await attempt(request, Int(port - World.upstreamPort))
    }

    private func attempt(_ request: OutboundRequest, _ upstream: Int) async throws(Failure) -> InboundResponse
    {
        let job = jobNumber(request)
        var reply = world.value.began(request, job: job, upstream: upstream)
        if case .fails(_, .neverSent) = reply.kind {
        } else if case .stream(let source) = request.body {
            while try await source.next() != nil {}
        }
        let now = world.value.timeline.now
        var at = now.addingReportingOverflow(reply.after).partialValue
        let idleEnd = now + request.timeouts.idle.saturatedNanoseconds
        if at > idleEnd, isSent(reply) {
            reply.kind = .fails(.connectionReadTimeout, .unknown)
            at = idleEnd
        }
        let isPatient = world.value.plant == .lateTransport
        if at >= request.deadline.nanoseconds, reply.after > 0, !isPatient {
            reply.kind = .fails(
                isSent(reply) ? .httpResponseTimeout : .connectionTimeout,
                isSent(reply) ? .unknown : .neverSent
            )
            at = request.deadline.nanoseconds
        }
        guard await world.pause(until: at) else {
            let sent: Sent = isSent(reply) ? .unknown : .neverSent
            world.value.checker.gave(job, .fails(.cancelled, sent), nil)
            throw Failure(.cancelled, sent: sent, "cancelled")
        }
        switch reply.kind {
        case .fails(let kind, let sent):
            world.value.checker.gave(job, reply.kind, nil)
            let isTwisted = world.value.plant == .wrongVerdict
            throw Failure(kind, sent: isTwisted && sent == .unknown ? .neverSent : sent, "simulated")
        case .answers(let answer): return inbound(answer, job, timeouts(of: job))
        }
    }

    /// As the checker believes them to be.
    private func timeouts(of job: Int) -> Timeouts {
        world.value.checker.jobs[job]?.route.policy.timeouts ?? Timeouts()
    }

    private func isSent(_ reply: Reply) -> Bool {
        if case .fails(_, .neverSent) = reply.kind { false } else { true }
    }

    private func inbound(_ answer: Answer, _ job: Int, _ timeouts: Timeouts) -> InboundResponse {
        var fields = HeaderFields()
        fields.append("Content-Type", answer.isJSON ? "application/json; charset=utf-8" : "text/html")
        for value in answer.retryAfter?.values ?? [] { fields.append("retry-After", value) }
        if let location = answer.location { fields.append("Location", location.text) }
        let content = world.value.documents[answer.document.rawValue]
        var stream: StreamRecord?
        var body: Body = content.isEmpty ? .empty : .bytes(content)
        if answer.delivery.isStream {
            let record = StreamRecord()
            stream = record
            let source = SimulatedBody(world, record, .job(job), content, answer.delivery, timeouts)
            if world.value.plant == .leakedBody { world.value.hoard.append(source) }
            body = .stream(source)
        }
        world.value.checker.gave(job, .answers(answer), stream)
        return InboundResponse(
            response: HTTPResponse(status: Status(rawValue: answer.status), fields: fields, body: body),
            exchange: Exchange(address: "192.0.2.1:80")
        )
    }

    /// A token request.
    private func ask(_ request: OutboundRequest, _ credential: Int) async throws(Failure) -> InboundResponse {
        let reply = world.value.asked(request, credential: credential)
        let at = world.value.timeline.now + reply.after
        guard at < request.deadline.nanoseconds else {
            _ = await world.pause(until: request.deadline.nanoseconds)
            world.value.checker.tokenFailed(credential)
            throw Failure(.httpResponseTimeout, sent: .unknown, "simulated")
        }
        _ = await world.pause(until: at)
        switch reply.kind {
        case .fails(let kind):
            world.value.checker.tokenFailed(credential)
            throw Failure(kind, sent: .unknown, "simulated")
        case .answers(let status, let text, let isStream, let breaks, let grant):
            let content = Array(text.utf8)
            let body: Body
            if isStream {
                let delivery = Delivery(
                    isStream: true,
                    isAnnounced: true,
                    pieces: 2,
                    gap: 7_000_000,
                    breaksAfter: breaks ? 1 : nil
                )
                body = .stream(
                    SimulatedBody(
                        world,
                        StreamRecord(),
                        .credential(credential, grant),
                        content,
                        delivery,
                        Timeouts()
                    )
                )
            } else {
                body = content.isEmpty ? .empty : .bytes(content)
                world.value.checker.tokenAnswered(credential, grant)
            }
            return InboundResponse(
                response: HTTPResponse(status: Status(rawValue: status), body: body),
                exchange: Exchange()
            )
        }
    }

    /// Every job's request carries its number.
    private func jobNumber(_ request: OutboundRequest) -> Int {
        guard
            let entry = request.fields.entries.first(where: { request.fields.nameText($0) == "X-Request-Id" })
        else {
            return -1
        }
        return Int(request.fields.valueText(entry)) ?? -1
    }
}
