import RelayBase
import RelayRoute
import RelayTestSupport
import Synchronization

// Takes what the route sends to the world's upstreams.
extension Confined where Value == TrafficWorld {
    func take(_ request: OutboundRequest, _ port: UInt16) async throws(Failure) -> InboundResponse {
        guard !Task.isCancelled else { throw Failure(.cancelled, sent: .neverSent, "cancelled") }
        if let failure = value.burn(request) { throw failure }
        let flight = value.sent(request, place: Int(port - Origin.upstreamPort))
        let upstream = value.upstreams[flight.place]
        var reply = upstream.reply(flight.job, now: value.timeline.now, wall: value.wall)
        if case .breaksOff = reply.kind, !flight.job.readsAll { reply.kind = .good }
        let end = request.deadline.nanoseconds
        var at = value.timeline.now + reply.after
        if at >= end { (at, reply.kind) = (end, .fails(.httpResponseTimeout, .unknown)) }
        let isOver = await pause(until: at)
        upstream.left()
        guard isOver else {
            value.landed(flight, .cancelled)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        let told = value.plant?.change(reply.kind) ?? reply.kind
        if case .breaksOff = told { return InboundResponse(200, [], .stream(TrafficBody(self, flight))) }
        // The content decides what a status alone does not.
        value.landed(flight, TrafficSign(reply.kind, wall: value.wall))
        if value.plant == .keepsAttempt, flight.order % 30 == 0 {
            await outwait(until: value.timeline.now + 3_000_000_000)
        }
        return try answer(told)
    }

    private func answer(_ kind: TrafficReply.Kind) throws(Failure) -> InboundResponse {
        switch kind {
        case .fails(let kind, let sent): throw Failure(kind, sent: sent, "simulated")
        case .breaksOff: preconditionFailure("an answer that breaks off has a body of its own")
        case .answers(let status, let lines, _): return InboundResponse(Status(rawValue: status), lines)
        }
    }
}

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
