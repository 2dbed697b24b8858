import RelayBase
import RelayPosix
import RelayRoute

/// A connection on its way to be made, with the request that it is made for; gone once it is there.
final class Dialling {
    enum Step {
        /// The name is looked up, since that moment.
        case name(since: Int64)
        /// An address is connected to.
        case connect
        case handshake(TLSSession)
    }

    let request: OutboundRequest
    let state: TransportState
    /// Of a connection that is made to look at it, and not for the request.
    let record: DialRecord?
    /// The moment by which the connection has to be there, in monotonic nanoseconds.
    let limit: Int64
    /// The setting that sets that, for messages; nil where nobody has said.
    private let timeLimit: TimeLimit?
    var step = Step.connect
    var order = DialOrder([])
    /// When the first address was tried.
    var connectBegan: Int64 = 0
    /// The failure of the last address that was tried.
    private(set) var failure: Failure?

    init(_ request: OutboundRequest, _ state: TransportState, _ record: DialRecord?, now: Int64) {
        self.request = request
        self.state = state
        self.record = record
        let connectEnd = Instant(nanoseconds: now).advanced(by: request.timeouts.connect)
        limit = min(connectEnd, request.deadline).nanoseconds
        timeLimit =
            connectEnd <= request.deadline
            ? TimeLimit(request.timeouts.source ?? LimitName("timeouts.connect"), request.timeouts.connect)
            : request.timeLimit
    }

    /// An address led nowhere; the next one may.
    func failed(_ failure: Failure) {
        self.failure = failure
        record?.report.faults.append(failure.detail)
    }

    /// For messages: what bounds it.
    func within(share: Bool = false) -> String {
        timeLimit.map { "within \(share ? "its share of " : "")\($0.text)" } ?? "in time"
    }
}

/// Where a connection may lead, in order; each place but the last gets its share of the time that is left.
struct DialOrder {
    private let addresses: [SocketAddress]
    private var tried = 0

    init(_ addresses: [SocketAddress]) { self.addresses = addresses }

    /// Whether the first does not have all of the time.
    var areShares: Bool { addresses.count > 1 }

    /// The place to try now, and until when; nil when none is left, or no time for another.
    mutating func next(now: Int64, limit: Int64) -> (place: SocketAddress, until: Int64)? {
        guard tried < addresses.count, now < limit || tried == 0 else { return nil }
        let share = (limit &- now) / Int64(addresses.count - tried)
        defer { tried += 1 }
        return (addresses[tried], limit == .max ? limit : now + share)
    }
}
