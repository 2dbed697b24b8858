import RelayCore
import RelayHTTP
import RelayPosix

// A body that goes to its reader on the spot: by the loop's buffer, without a task and without a copy. While the reader
// wants nothing the socket is not read, so that the peer has to wait.
extension Connection: PieceSender {
    /// Reads of one connection in a turn of the loop; others come between those and the next.
    private static let readsInTurn = 8

    /// Gives the body of the request with that serial to who takes it piece by piece.
    func handOver(_ serial: UInt64, to receiver: any PieceReceiver) -> Bool {
        guard self.serial == serial, phase == .reading else { return false }
        taker = receiver
        return true
    }

    func goOn() {
        guard phase == .reading, let taker else { return }
        if !body.leftover.isEmpty {
            let piece = body.leftover
            body.leftover = []
            guard unsafe piece.withUnsafeBytes({ unsafe taker.came($0, isLast: false) }), phase == .reading
            else {
                return
            }
        }
        awaitPiece()
        readPieces()
    }

    /// The peer makes its reader wait from now on.
    func awaitPiece() {
        body.isWanted = true
        lastProgress = loop.now
        arm()
    }

    func stop() {
        guard phase == .reading, taker != nil else { return }
        taker = nil
        close()
    }

    /// Something may be there to read.
    func wakeReader() {
        if taker == nil { body.wake() } else { readPieces() }
    }

    /// Passes on what is there, as long as it is wanted.
    func readPieces() {
        var reads = 0
        while phase == .reading, body.isWanted, isReadable, let taker {
            if reads == Self.readsInTurn {
                let serial = serial
                return loop.afterBatch { [self] in
                    if self.serial == serial { readPieces() }
                }
            }
            reads += 1
            let scratch = unsafe loop.scratch
            let wanted = body.wanted(atMost: scratch.count)
            let result = unsafe receive(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<wanted]))
            if case .bytes(let count) = result {
                lastProgress = loop.now
                unsafe pass(UnsafeMutableRawBufferPointer(rebasing: scratch[..<count]), to: taker)
            } else if case .over? = readOutcome(result) {
                self.taker = nil
                unsafe _ = taker.came(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
            }
        }
    }

    private func pass(_ arrived: UnsafeMutableRawBufferPointer, to taker: any PieceReceiver) {
        let consumed: Int
        let count: Int
        do throws(HTTPParseError) {
            (consumed, count) = unsafe try body.compact(arrived.assumingMemoryBound(to: UInt8.self))
        } catch {
            return fail(error, understoodHead: true)
        }
        let piece = unsafe UnsafeRawBufferPointer(rebasing: arrived[..<count])
        guard body.isComplete else {
            if count > 0 { body.isWanted = unsafe taker.came(piece, isLast: false) }
            return
        }
        self.taker = nil
        // Bytes behind the answer were not asked for.
        release(keepsAlive: body.keepsAlive && consumed == arrived.count && upload == nil)
        unsafe _ = taker.came(piece, isLast: true)
    }
}
