import RelayEngine
import RelayPosix

/// Answers that began to follow their heads a moment ago: most are over before their route has to know of them, and cost
/// it nothing.
///
/// Confined to the loop.
final class YoungStreams {
    private struct Young {
        let connection: Connection
        let serial: Int
        let state: RouteState
        let caller: FairQueue.Caller
        let due: Int64
    }

    private let loop: EventLoop
    /// In the order of their beginnings, from `first` on.
    private var young: [Young] = []
    private var first = 0
    private lazy var timer = LoopTimer { [unowned self] in look() }
    /// Nanoseconds until a route is told; it takes an answer for endless after ten times as long.
    private static let age: Int64 = 1_000_000_000

    init(_ loop: EventLoop) { self.loop = loop }

    /// `serial` is that of the connection's request.
    func add(_ connection: Connection, _ serial: Int, _ state: RouteState, _ caller: FairQueue.Caller) {
        let due = loop.now &+ Self.age
        if first == young.count { loop.schedule(timer, at: due) }
        young.append(
            Young(connection: connection, serial: serial, state: state, caller: caller, due: due)
        )
    }

    private func look() {
        while first < young.count, young[first].due <= loop.now {
            let next = young[first]
            first += 1
            guard next.connection.request?.streamSerial == next.serial else { continue }
            next.connection.streamBegins(next.state, to: next.caller, isEndless: false)
        }
        // Moving what is left pays when it is less than what goes.
        if first * 2 >= young.count {
            young.removeFirst(first)
            first = 0
        }
        if first < young.count { loop.schedule(timer, at: young[first].due) }
    }
}
