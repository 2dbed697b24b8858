import RelayBase
import RelayHTTP
import RelayRoute

/// The body of the answer at hand, as far as it is framed, read and waited for.
@safe struct IncomingBody {
    private var decoder: BodyDecoder
    private let framing: BodyFraming
    /// Bytes still to come; meaningful for a counted body.
    private(set) var remaining: UInt64 = 0
    /// Bytes of the content that have come.
    private(set) var received: UInt64 = 0
    var keepsAlive = false
    /// Body bytes that came with the head, and the memory they take.
    private(set) var leftover: [UInt8] = []
    private var reservation: MemoryReservation?
    /// Bytes to ask for at the next read.
    var readSize = 16_384
    /// Why the rest will not come.
    var fault: Failure?
    private var waiter: UnsafeContinuation<Void, Never>?

    static let smallestRead = 4_096
    static let largestRead = 65_536

    init(_ framing: BodyFraming = .none) {
        self.framing = framing
        decoder = BodyDecoder(framing: framing)
        if case .length(let length) = framing { remaining = length }
    }

    var isComplete: Bool { decoder.isComplete }
    var isChunked: Bool { framing == .chunked }
    /// Whether who takes it without a task wants the next piece.
    var isWanted = false
    var isAwaited: Bool { unsafe isWanted || waiter != nil }

    /// Keeps what came with the head until it is read.
    mutating func keep(_ bytes: [UInt8], in reservation: MemoryReservation?) {
        leftover = bytes
        self.reservation = reservation
    }

    /// The bytes that came with the head; they are the reader's from now on.
    mutating func takeLeftover() -> [UInt8] {
        defer { (leftover, reservation) = ([], nil) }
        return leftover
    }

    /// Takes note that so many bytes of what came with the head were read.
    mutating func dropLeftover(_ count: Int) {
        leftover = count == leftover.count ? [] : Array(leftover[count...])
        if leftover.isEmpty { reservation = nil } else { reservation?.shrink(to: leftover.count) }
    }

    /// Bytes in all, where the head said so.
    var length: UInt64? {
        switch framing {
        case .none: 0
        case .length(let length): length
        case .chunked, .untilClose: nil
        }
    }

    /// Takes the body's part of `bytes` out of its framing.
    ///
    /// - Returns: how many bytes were taken.
    mutating func takeAll(_ bytes: Span<UInt8>, into content: inout [UInt8]) throws(HTTPParseError) -> Int {
        let before = content.count
        let (consumed, _) = try decoder.decode(bytes, into: &content)
        received += UInt64(content.count - before)
        if !isChunked { remaining -= min(remaining, UInt64(consumed)) }
        return consumed
    }

    /// The same without taking it.
    ///
    /// - Returns: how many bytes belong to the body in its framing, and how many of them are content.
    mutating func measure(_ bytes: Span<UInt8>) throws(HTTPParseError) -> (consumed: Int, count: Int) {
        var (consumed, count) = (0, 0)
        while consumed < bytes.count, !isComplete {
            let run = try decoder.next(bytes, from: consumed)
            count += run.count
            consumed = run.upperBound
        }
        received += UInt64(count)
        if !isChunked { remaining -= min(remaining, UInt64(consumed)) }
        return (consumed, count)
    }

    /// Takes the body's part of `bytes` out of its framing, and moves it to the beginning of `bytes`.
    mutating func compact(
        _ bytes: UnsafeMutableBufferPointer<UInt8>
    ) throws(HTTPParseError) -> (consumed: Int, count: Int) {
        guard let base = bytes.baseAddress else { return (0, 0) }
        var (consumed, count) = (0, 0)
        while consumed < bytes.count, !isComplete {
            let run = try decoder.next(unsafe Span(_unsafeElements: bytes), from: consumed)
            if run.lowerBound != count {
                unsafe (base + count).update(from: base + run.lowerBound, count: run.count)
            }
            count += run.count
            consumed = run.upperBound
        }
        received += UInt64(count)
        if !isChunked { remaining -= min(remaining, UInt64(consumed)) }
        return (consumed, count)
    }

    /// How many bytes the next read may take straight into a piece.
    var wanted: Int { wanted(atMost: readSize) }

    func wanted(atMost limit: Int) -> Int {
        guard case .length = framing else { return limit }
        return remaining < UInt64(limit) ? Int(remaining) : limit
    }

    /// Takes note that `count` bytes, no more than wanted, went straight into a piece.
    mutating func took(_ count: Int) {
        _ = decoder.take(count)
        received += UInt64(count)
        if case .length = framing { remaining -= UInt64(count) }
    }

    /// Reads more at once where that many came, and less where they did not.
    mutating func adapt(_ count: Int) {
        if count >= readSize {
            readSize = min(readSize * 2, Self.largestRead)
        } else if count < readSize / 4 {
            readSize = max(readSize / 2, Self.smallestRead)
        }
    }

    mutating func ended() -> Bool { decoder.connectionClosed() }

    mutating func await(_ continuation: UnsafeContinuation<Void, Never>) {
        unsafe waiter = continuation
    }

    mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
        let taken = unsafe waiter
        unsafe waiter = nil
        return unsafe taken
    }

    mutating func wake() {
        unsafe takeWaiter()?.resume()
    }
}
