import RelayBase
import RelayCore
import RelayRoute

/// The clocks of a scenario.
final class ScenarioTime: TimeSource {
    private let world: Confined<ScenarioWorld>

    init(_ world: Confined<ScenarioWorld>) { self.world = world }

    func now() -> Instant { Instant(nanoseconds: world.value.timeline.now) }

    func wallMilliseconds() -> Int64 { world.value.wall }

    func sleep(until deadline: Instant) async throws(CancellationError) { try await expire(at: deadline) }

    func expire(at deadline: Instant) async throws(CancellationError) {
        if await !world.pause(until: deadline.nanoseconds) { throw CancellationError() }
    }
}

/// Takes what the relay sends to the upstreams of a scenario, which are told apart by their ports.
final class ScenarioTransport: Transport {
    private let world: Confined<ScenarioWorld>

    init(_ world: Confined<ScenarioWorld>) { self.world = world }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard case .tcp(_, let port, _) = request.upstream.origin else {
            throw Failure(.destinationUnavailable, sent: .neverSent, "simulated")
        }
        guard !Task.isCancelled else { throw Failure(.cancelled, sent: .neverSent, "cancelled") }
        let upstream = Confined(world.value.upstreams[Int(port)])
        let visit = upstream.value.came(
            at: world.value.now,
            target: request.target,
            credential: request.addedFields[.authorization]
        )
        let reply = upstream.value.model(visit)
        let answered = reply.after < 1e9 ? world.value.timeline.now + Int64(reply.after * 1e9) : .max
        let isInTime = answered < request.deadline.nanoseconds
        let kept = Confined(visit)
        let isOver = await world.pause(until: min(answered, request.deadline.nanoseconds))
        let told = isOver && isInTime
        upstream.value.left(kept.value, at: world.value.now, status: told ? reply.status : nil)
        guard isOver else { throw Failure(.cancelled, sent: .unknown, "cancelled") }
        guard isInTime else { throw Failure(.httpResponseTimeout, sent: .unknown, "simulated") }
        var fields = HeaderFields()
        for (name, value) in reply.fields { fields.append(name, value) }
        let body: Body = reply.body.isEmpty ? .empty : .bytes(Array(reply.body.utf8))
        return InboundResponse(
            response: HTTPResponse(status: Status(rawValue: reply.status), fields: fields, body: body),
            exchange: Exchange(address: "192.0.2.1:80")
        )
    }
}

/// Hears of the breakers.
final class ScenarioListener: JobListener {
    private let world: Confined<ScenarioWorld>

    init(_ world: Confined<ScenarioWorld>) { self.world = world }

    func heard(_ event: JobEvent, at wall: Int64) {
        guard case .breakerChanged(_, let change) = event, let place = Int(change.upstream.dropFirst()) else {
            return
        }
        world.value.upstreams[place].breakerChanged(isOpen: change.probeIn != nil)
    }
}
