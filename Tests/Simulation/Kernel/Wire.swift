import RelayBase
import RelayCore
import RelayRoute

/// Hands what is sent to its world, with the port that it goes to.
final class SimulatedTransport: Transport {
    private let take: @Sendable (OutboundRequest, UInt16) async throws(Failure) -> InboundResponse

    init(_ take: @escaping @Sendable (OutboundRequest, UInt16) async throws(Failure) -> InboundResponse) {
        self.take = take
    }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard case .tcp(_, let port, _) = request.upstream.origin else {
            throw Failure(.destinationUnavailable, sent: .neverSent, "simulated")
        }
        return try await take(request, port)
    }
}

extension Origin {
    /// Upstreams and token endpoints are told apart by their ports.
    static func upstream(_ index: Int) -> Origin { simulated("u\(index)", upstreamPort + UInt16(index)) }
    static func endpoint(_ index: Int) -> Origin { simulated("t\(index)", endpointPort + UInt16(index)) }

    static let upstreamPort: UInt16 = 1_000
    static let endpointPort: UInt16 = 2_000

    private static func simulated(_ name: String, _ port: UInt16) -> Origin {
        .tcp(host: "\(name).example", port: port, isTLS: true)
    }
}

extension InboundResponse {
    /// The answer of a simulated upstream.
    init(_ status: Status, _ lines: [(name: String, value: String)] = [], _ body: Body = .empty) {
        var fields = HeaderFields()
        for line in lines { fields.append(line.name, line.value) }
        self.init(
            response: HTTPResponse(status: status, fields: fields, body: body),
            exchange: Exchange(address: "192.0.2.1:80")
        )
    }
}

extension HeaderFields {
    /// Every job's request carries its number.
    var jobNumber: Int {
        guard let entry = entries.first(where: { nameText($0) == "X-Request-Id" }) else { return -1 }
        return Int(valueText(entry)) ?? -1
    }
}

/// Hands every event to its world.
final class SimulatedListener: EventSink, JobListener {
    private let hear: @Sendable (JobEvent) -> Void

    init(_ hear: @escaping @Sendable (JobEvent) -> Void) { self.hear = hear }

    func record(_ event: JobEvent) { hear(event) }

    func heard(_ event: JobEvent, at wall: Int64) { hear(event) }
}
