import RelayBase
import RelayRoute
import RelayTestSupport

/// The clocks of a world of durable jobs: the wall clock steps, the other does not.
final class DurableTime: TimeSource {
    private let world: Confined<DurableWorld>

    init(_ world: Confined<DurableWorld>) { self.world = world }

    func now() -> Instant { Instant(nanoseconds: world.value.timeline.now) }
    func wallMilliseconds() -> Int64 { world.value.wall }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        if await !world.pause(until: deadline.nanoseconds) { throw CancellationError() }
    }

    func expire(at deadline: Instant) async throws(CancellationError) {
        let isDeaf = world.value.plant == .deafWaiters && world.value.checker.hasWaiter(until: deadline)
        if await !world.pause(until: isDeaf ? .max : deadline.nanoseconds) { throw CancellationError() }
    }
}

/// Takes what one process sends to the world's upstreams; nothing of it arrives once the process is dead.
final class DurableTransport: Transport {
    private let world: Confined<DurableWorld>
    private let life: Confined<DurableLife>

    init(_ world: Confined<DurableWorld>, _ life: Confined<DurableLife>) {
        self.world = world
        self.life = life
    }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard case .tcp(_, let port, _) = request.upstream.origin else {
            throw Failure(.destinationUnavailable, sent: .neverSent, "simulated")
        }
        guard !life.value.isDead, !Task.isCancelled else {
            throw Failure(.cancelled, sent: .neverSent, "the process is gone, or the run was stopped")
        }
        if port >= World.endpointPort { return try await token(request, Int(port - World.endpointPort)) }
        return try await attempt(request, Int(port - World.upstreamPort))
    }

    private func attempt(_ request: OutboundRequest, _ upstream: Int) async throws(Failure) -> InboundResponse
    {
        let began = world.value.timeline.now
        let patience = request.deadline.nanoseconds - began
        let (reply, after) = world.value.upstreams[upstream].reply(now: began, patience: patience)
        let flight = await world.value.sent(request, by: life.value)
        let isOver = await world.pause(until: began + after)
        guard !life.value.isDead, isOver else {
            world.value.checker.landed(flight, .stopped)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        switch reply {
        case .fails(let kind, let sent):
            world.value.checker.landed(flight, sent == .neverSent ? .never : .unknown)
            throw Failure(kind, sent: sent, "simulated")
        case .answers(let status, let retryAfter):
            let isRefused = status.class == .clientError || status == 503 && retryAfter != nil
            let failed: DurableFacts.Landing = isRefused ? .failed : .answered
            world.value.checker.landed(flight, status.class == .success ? .success : failed)
            var fields = HeaderFields()
            if let retryAfter { fields.append("Retry-After", "\(retryAfter)") }
            return InboundResponse(
                response: HTTPResponse(status: status, fields: fields, body: .empty),
                exchange: Exchange(address: "192.0.2.1:80")
            )
        }
    }

    /// A token request.
    private func token(_ request: OutboundRequest, _ credential: Int) async throws(Failure) -> InboundResponse
    {
        let isWell = world.value.isWell(credential)
        guard await world.pause(until: world.value.timeline.now + world.value.draw.time(2...300)) else {
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        world.value.tokens += 1
        let text = #"{"access_token":"t\#(world.value.tokens)","expires_in":3600}"#
        return InboundResponse(
            response: HTTPResponse(
                status: isWell ? 200 : world.value.draw.pick([400, 503]),
                body: isWell ? .bytes(Array(text.utf8)) : .empty
            ),
            exchange: Exchange()
        )
    }
}
