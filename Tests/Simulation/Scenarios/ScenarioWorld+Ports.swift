import RelayBase
import RelayCore
import RelayRoute

// The requests that the relay sends, and the events that it tells.
extension Confined where Value == ScenarioWorld {
    func take(_ request: OutboundRequest, _ port: UInt16) async throws(Failure) -> InboundResponse {
        guard !Task.isCancelled else { throw Failure(.cancelled, sent: .neverSent, "cancelled") }
        let upstream = Confined<ScenarioUpstream>(value.upstreams[Int(port - Origin.upstreamPort)])
        let visit = upstream.value.came(
            request,
            at: value.now
        )
        let reply = upstream.value.model(visit)
        let answered = reply.after < 1e9 ? value.timeline.now + Int64(reply.after * 1e9) : .max
        let isInTime = answered < request.deadline.nanoseconds
        let kept = Confined<ScenarioUpstream.Visit>(visit)
        let isOver = await pause(until: min(answered, request.deadline.nanoseconds))
        upstream.value.left(kept.value, at: value.now, status: isOver && isInTime ? reply.status : nil)
        guard isOver else { throw Failure(.cancelled, sent: .unknown, "cancelled") }
        guard isInTime else { throw Failure(.httpResponseTimeout, sent: .unknown, "simulated") }
        guard reply.status > 0 else { throw Failure(.connectionTerminated, sent: .unknown, "simulated") }
        let body: Body = reply.body.isEmpty ? .empty : .bytes(Array(reply.body.utf8))
        return InboundResponse(Status(rawValue: reply.status), reply.fields, body)
    }
}

extension ScenarioWorld {
    func heard(_ event: JobEvent) {
        guard case .breakerChanged(_, let change) = event, let place = Int(change.upstream.dropFirst()) else {
            return
        }
        upstreams[place].breakerChanged(isOpen: change.probeIn != nil)
    }
}
