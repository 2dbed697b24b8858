import RelayBase
import RelayPosix
import RelayRoute
import Synchronization

/// The body of an answer, read from its connection as it is asked for.
///
/// May be read from any thread, by one reader at a time. Read to its end it gives the connection back; let go
/// of before, it closes the connection.
final class ResponseBody: PromptBody {
    let length: UInt64?
    private let connection: LoopBound<Connection>
    private let loop: EventLoop
    private let serial: UInt64
    private let begun = Atomic<Bool>(false)
    private let stage = Atomic<Stage>(.open)

    private enum Stage: UInt8, AtomicRepresentable {
        case open
        /// Read to its end.
        case ended
        /// Failed, or given up by its reader.
        case lost
    }

    init(_ connection: LoopBound<Connection>, _ loop: EventLoop, serial: UInt64, length: UInt64?) {
        self.connection = connection
        self.loop = loop
        self.serial = serial
        self.length = length
    }

    deinit {
        cancel()
    }

    var wasRead: Bool { begun.load(ordering: .relaxed) }

    func next() async throws(Failure) -> [UInt8]? {
        begun.store(true, ordering: .relaxed)
        switch stage.load(ordering: .relaxed) {
        case .open: break
        case .ended: return nil
        case .lost: throw Failure(.cancelled, sent: .unknown, "the response body was given up")
        }
        if loop.isCurrent { return try await nextOnLoop() }
        return try await withTaskExecutorPreference(loop) { () async throws(Failure) in try await hop() }
    }

    /// Leaves whatever actor the caller is on.
    @concurrent
    private func hop() async throws(Failure) -> [UInt8]? {
        try await nextOnLoop()
    }

    private func nextOnLoop() async throws(Failure) -> [UInt8]? {
        do throws(Failure) {
            let (piece, isLast) = try await connection.value.nextPiece(serial)
            if isLast { stage.store(.ended, ordering: .relaxed) }
            return piece
        } catch {
            stage.store(.lost, ordering: .relaxed)
            throw error
        }
    }

    func handOver(to receiver: any PieceReceiver) -> (any PieceSender)? {
        guard let connection = connection.valueOnLoop, !wasRead, connection.handOver(serial, to: receiver)
        else {
            return nil
        }
        begun.store(true, ordering: .relaxed)
        // The rest of the body is the receiver's from here on.
        stage.store(.ended, ordering: .relaxed)
        return connection
    }

    func lendArrived(_ take: (Span<UInt8>) -> Int) {
        guard let connection = connection.valueOnLoop, !wasRead else { return }
        connection.lendArrived(serial, take)
    }

    func cancel() {
        guard stage.compareExchange(expected: .open, desired: .lost, ordering: .relaxed).exchanged else {
            return
        }
        if let connection = connection.valueOnLoop {
            connection.abandon(serial)
        } else {
            loop.execute { [connection, serial] in connection.value.abandon(serial) }
        }
    }

    func bound(by deadline: Instant) {
        if let connection = connection.valueOnLoop {
            connection.bound(serial, by: deadline.nanoseconds)
        } else {
            loop.execute { [connection, serial] in connection.value.bound(serial, by: deadline.nanoseconds) }
        }
    }
}
