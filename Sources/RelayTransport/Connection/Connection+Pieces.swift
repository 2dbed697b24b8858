import RelayHTTP
import RelayPosix
import RelayRoute

// A body that goes to its reader on the spot: by the loop's buffer, without a task and without a copy. While the reader
// wants nothing the socket is not read, so that the peer has to wait.
extension Connection: PieceSender {
    /// Reads of one connection in a turn of the loop; others come between those and the next.
    private static let readsPerIteration = 8

    /// Gives the body of the request with that serial to who takes it piece by piece.
    func handOver(_ serial: UInt64, to receiver: any PieceReceiver) -> Bool {
        guard self.serial == serial, phase == .reading else { return false }
        taker = receiver
        return true
    }

    /// Lends what came with the head of the answer to the request with that serial.
    func lendArrived(_ serial: UInt64, _ take: (Span<UInt8>) -> Int) {
        guard self.serial == serial, phase == .reading, !body.leftover.isEmpty else { return }
        body.dropLeftover(take(body.leftover.span))
    }

    func goOn() {
        guard phase == .reading, let taker else { return }
        if !body.leftover.isEmpty {
            let piece = body.takeLeftover()
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
            if reads == Self.readsPerIteration {
                let serial = serial
                return loop.afterBatch { [self] in
                    if self.serial == serial { readPieces() }
                }
            }
            reads += 1
            if isMovable, let outlet = taker.outlet, let pipe = loop.pipe {
                if move(by: pipe, to: outlet, taker) { continue }
            }
            let scratch = unsafe loop.scratch
            let wanted = body.wanted(atMost: scratch.count)
            let result = unsafe receive(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<wanted]))
            if case .bytes(let count) = result {
                let (crawls, serial) = (hasContentMoved(count), serial)
                unsafe pass(UnsafeMutableRawBufferPointer(rebasing: scratch[..<count]), to: taker)
                if crawls, self.serial == serial, phase == .reading { self.crawls() }
            } else if case .over? = readOutcome(result) {
                endPieces(taker)
            }
        }
    }

    /// Fewer bytes are read sooner than moved.
    private static let worthMoving = 32_768

    /// Whether what follows is to be passed on as it comes from the socket; a Unix socket moves it slower than it copies.
    private var isMovable: Bool {
        guard tls == nil, !body.isChunked, body.wanted(atMost: Self.worthMoving) == Self.worthMoving else {
            return false
        }
        if case .tcp = pool.key.origin { return true }
        return false
    }

    /// Has the kernel move what is there to the taker's socket; what that does not take now comes to the taker as ever.
    ///
    /// - Returns: false where the kernel does not do that: nothing was done.
    private func move(by pipe: SocketPipe, to outlet: Int32, _ taker: any PieceReceiver) -> Bool {
        switch pipe.fill(from: descriptor, most: body.wanted(atMost: SocketPipe.capacity)) {
        case nil: return false
        case .bytes(let count)?: passMoved(count, pipe, outlet, taker)
        case .end?: if case .over? = readOutcome(.end) { endPieces(taker) }
        case .wouldBlock?: isReadable = false
        case .failed(let errno)?: _ = readOutcome(.failed(WireFault(errno)))
        }
        return true
    }

    private func passMoved(_ count: Int, _ pipe: SocketPipe, _ outlet: Int32, _ taker: any PieceReceiver) {
        let crawls = hasContentMoved(count)
        body.took(count)
        let isLast = body.isComplete
        if isLast { taker.isWhole() }
        pipe.send(to: outlet)
        if isLast {
            self.taker = nil
            release(keepsAlive: body.keepsAlive && upload == nil)
        }
        var isWanted = true
        while pipe.count > 0 {
            let scratch = unsafe loop.scratch
            let piece = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<pipe.read(into: scratch)])
            isWanted = unsafe taker.came(piece, isLast: isLast && pipe.count == 0)
        }
        guard isLast else {
            body.isWanted = isWanted
            if crawls, phase == .reading { self.crawls() }
            return
        }
        if isWanted { unsafe _ = taker.came(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) }
    }

    /// The peer's end is the content's.
    private func endPieces(_ taker: any PieceReceiver) {
        self.taker = nil
        taker.isWhole()
        unsafe _ = taker.came(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
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
        taker.isWhole()
        unsafe _ = taker.came(piece, isLast: true)
    }
}
