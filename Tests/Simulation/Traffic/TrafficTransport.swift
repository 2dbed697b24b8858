import RelayBase
import RelayRoute
import RelayTestSupport
import Synchronization

/// The clocks of a world of traffic.
final class TrafficTime: TimeSource {
    private let world: Confined<TrafficWorld>

    /// Whether it is the task that claims kept jobs that waits.
    @TaskLocal static var isLane = false

    init(_ world: Confined<TrafficWorld>) { self.world = world }

    func now() -> Instant { Instant(nanoseconds: world.value.timeline.now) }

    func wallMilliseconds() -> Int64 {
        world.value.wall + (world.value.plant == .clockAhead ? 3_000 : 0)
    }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        let late: Int64 = world.value.plant == .late ? 500_000_000 : 0
        if await !world.pause(until: deadline.nanoseconds.addingReportingOverflow(late).partialValue) {
            throw CancellationError()
        }
    }

    func expire(at deadline: Instant) async throws(CancellationError) {
        let late: Int64 = world.value.plant == .lateLane && TrafficTime.isLane ? 3_000_000_000 : 0
        if await !world.pause(until: deadline.nanoseconds.addingReportingOverflow(late).partialValue) {
            throw CancellationError()
        }
    }
}

/// Takes what the route sends to the world's upstreams.
final class TrafficTransport: Transport {
    private let world: Confined<TrafficWorld>

    init(_ world: Confined<TrafficWorld>) { self.world = world }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard case .tcp(_, let port, _) = request.upstream.origin else {
            throw Failure(.destinationUnavailable, sent: .neverSent, "simulated")
        }
        guard !Task.isCancelled else { throw Failure(.cancelled, sent: .neverSent, "cancelled") }
        if let failure = world.value.burn(request) { throw failure }
        let flight = world.value.sent(request, place: Int(port - World.upstreamPort))
        let upstream = world.value.upstreams[flight.place]
        var reply = upstream.reply(flight.job, now: world.value.timeline.now, wall: world.value.wall)
        if case .breaksOff = reply.kind, !flight.job.readsAll { reply.kind = .good }
        let end = request.deadline.nanoseconds
        var at = world.value.timeline.now + reply.after
        if at >= end { (at, reply.kind) = (end, .fails(.httpResponseTimeout, .unknown)) }
        let isOver = await world.pause(until: at)
        upstream.left()
        guard isOver else {
            world.value.landed(flight, .cancelled)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        let told = world.value.plant?.change(reply.kind) ?? reply.kind
        if case .breaksOff = told { return breakingOff(flight) }
        // The content decides what a status alone does not.
        world.value.landed(flight, TrafficSign(reply.kind, wall: world.value.wall))
        if world.value.plant == .keepsAttempt, flight.order % 30 == 0 {
            await world.outwait(until: world.value.timeline.now + 3_000_000_000)
        }
        return try answer(told)
    }

    private func answer(_ kind: TrafficReply.Kind) throws(Failure) -> InboundResponse {
        switch kind {
        case .fails(let kind, let sent): throw Failure(kind, sent: sent, "simulated")
        case .breaksOff: preconditionFailure("an answer that breaks off has a body of its own")
        case .answers(let status, let lines, _):
            var fields = HeaderFields()
            for line in lines { fields.append(line.name, line.value) }
            return InboundResponse(
                response: HTTPResponse(status: Status(rawValue: status), fields: fields, body: .empty),
                exchange: Exchange(address: "192.0.2.1:80")
            )
        }
    }

    private func breakingOff(_ flight: TrafficFlight) -> InboundResponse {
        let body = TrafficBody(world, flight)
        return InboundResponse(
            response: HTTPResponse(status: 200, body: .stream(body)),
            exchange: Exchange(address: "192.0.2.1:80")
        )
    }
}

/// Content that breaks off.
final class TrafficBody: BodySource {
    private let world: Confined<TrafficWorld>
    private let flight: Confined<TrafficFlight>
    private let deadline = Mutex(Int64.max)

    init(_ world: Confined<TrafficWorld>, _ flight: TrafficFlight) {
        self.world = world
        self.flight = Confined(flight)
    }

    deinit { cancel() }

    var length: UInt64? { 100 }
    var wasRead: Bool { true }
    var sentOnceBecause: String? { nil }

    func bound(by deadline: Instant) { self.deadline.withLock { $0 = deadline.nanoseconds } }

    func cancel() { world.value.landed(flight.value, .left) }

    func next() async throws(Failure) -> [UInt8]? {
        let (began, end) = (world.value.timeline.now, deadline.withLock { $0 })
        let isOver = await world.pause(until: min(end, began + 20_000_000))
        flight.value.moved += world.value.timeline.now - began
        flight.value.job.contentMoved(for: world.value.timeline.now - began)
        guard isOver else {
            world.value.landed(flight.value, .left)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        world.value.landed(flight.value, TrafficSign(.breaksOff, wall: world.value.wall))
        throw Failure(.httpResponseIncomplete, sent: .unknown, "simulated")
    }
}
