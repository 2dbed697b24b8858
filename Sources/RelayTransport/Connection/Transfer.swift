import RelayBase
import RelayRoute

/// The content of one exchange as it moves: while that of the request does, its deadline stands still.
struct Transfer {
    let floor: RateFloor
    /// After which nothing goes on but an answer that streams; nil where nobody bounds all of it.
    let end: TimeBound?
    /// Since when the request's content moves, in monotonic nanoseconds; nil once all of it is out.
    private var since: Int64?
    /// How long it has moved.
    private(set) var moved: Int64 = 0
    /// Of what the request's content comes from, and of the peer.
    private var source = TransferPace()
    private var peer = TransferPace()

    init(_ request: OutboundRequest) {
        floor = RateFloor(bytesPerSecond: request.timeouts.minRate, idle: request.timeouts.idle)
        end = request.end
    }

    init(_ floor: RateFloor) {
        self.floor = floor
        end = nil
    }

    /// Whether content of the request is still on its way.
    var isUpload: Bool { since != nil }

    mutating func begin(_ now: Int64) { since = now }

    /// All of it is out.
    ///
    /// - Returns: how long it has moved.
    mutating func finish(_ now: Int64) -> Int64 {
        guard let began = since.take() else { return 0 }
        moved = max(0, now &- began)
        return moved
    }

    /// How long it has moved by now.
    func time(_ now: Int64) -> Int64 { since.map { max(0, now &- $0) } ?? moved }

    /// The source of the request's content has brought so many bytes after that wait.
    mutating func isSourceTooSlow(_ count: Int, after wait: Int64) -> Bool {
        source.isTooSlow(count, after: wait, floor)
    }

    /// The peer has taken or brought so many.
    mutating func isPeerTooSlow(_ count: Int, after wait: Int64) -> Bool {
        peer.isTooSlow(count, after: wait, floor)
    }
}
