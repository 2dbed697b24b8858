import RelayBase
import RelayCore
import RelayEngine
import RelayRoute

/// One request that is passed through: its bytes, and what is known of it until its answer is out.
///
/// It stands behind a pointer and is lent by the loop's `PassThrough`. The caller's connection owns it from its sending
/// to its end or its promotion.
@safe struct PassThroughExchange {
    var id = JobID(milliseconds: 0, random: (0, 0))
    /// When the request came: on the monotonic clock in nanoseconds, and in milliseconds since 1970 UTC.
    var began: Int64 = 0
    var wall: Int64 = 0
    var grant: AttemptGrant?
    /// The credential that it was sent with.
    var token: Token?
    /// The request as it came.
    var bytes: UnsafeMutablePointer<UInt8>
    let capacity: Int
    var count = 0
    /// The memory that takes, of a large one.
    var reservation: MemoryReservation?
    /// The same of its answer.
    var answerReservation: MemoryReservation?
    /// Path and query below the route, and the value of `Traceparent`, as places in `bytes`.
    var remainder = 0..<0
    var trace = 0..<0
    /// As in `PassThroughRecords.methods`.
    var method: UInt8 = 0
    /// Of an answer whose content follows its head by pieces, until that has come to its end.
    var streamed: PassThroughRecord?
    /// It keeps its route also over a reload.
    var entry: PassThrough.Entry

    /// Path and query below the route; good for as long as the exchange holds the request.
    @inline(__always)
    @unsafe var target: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: bytes + remainder.lowerBound, count: remainder.count)
    }

    init(_ entry: PassThrough.Entry, capacity: Int) {
        self.entry = entry
        self.capacity = capacity
        unsafe bytes = .allocate(capacity: capacity)
    }
}

/// Exchanges that are not in use.
@safe struct PassThroughLoan: ~Copyable {
    /// Bytes of a request that each has room for at least, and at most where it is kept: more is lent by the account of
    /// memory.
    private static let least = 1_024
    static let kept = 4_096
    private static let count = 256

    @safe private var free: [UnsafeMutablePointer<PassThroughExchange>] = unsafe []

    deinit {
        for index in unsafe free.indices { unsafe PassThroughLoan.destroy(free[index]) }
    }

    @inline(__always)
    mutating func take(_ entry: PassThrough.Entry, _ count: Int) -> UnsafeMutablePointer<PassThroughExchange>
    {
        guard let exchange = unsafe free.last, unsafe exchange.pointee.capacity >= count else {
            return unsafe PassThroughLoan.make(entry, count)
        }
        unsafe free.removeLast()
        if unsafe exchange.pointee.entry !== entry { unsafe exchange.pointee.entry = entry }
        return unsafe exchange
    }

    @inline(__always)
    mutating func takeBack(_ exchange: UnsafeMutablePointer<PassThroughExchange>) {
        if unsafe exchange.pointee.token != nil { unsafe exchange.pointee.token = nil }
        if unsafe exchange.pointee.answerReservation != nil {
            unsafe exchange.pointee.answerReservation = nil
        }
        guard unsafe free.count < PassThroughLoan.count,
            unsafe exchange.pointee.capacity <= PassThroughLoan.kept, unsafe !exchange.pointee.entry.isOver
        else { return unsafe PassThroughLoan.destroy(exchange) }
        unsafe free.append(exchange)
    }

    /// Routes that are gone are kept by nothing but requests under way.
    mutating func clear() {
        while let exchange = unsafe free.popLast() { unsafe PassThroughLoan.destroy(exchange) }
    }

    @inline(never)
    private static func make(
        _ entry: PassThrough.Entry,
        _ count: Int
    ) -> UnsafeMutablePointer<PassThroughExchange> {
        let exchange = UnsafeMutablePointer<PassThroughExchange>.allocate(capacity: 1)
        unsafe exchange.initialize(to: PassThroughExchange(entry, capacity: max(least, count)))
        return unsafe exchange
    }

    @inline(never)
    private static func destroy(_ exchange: UnsafeMutablePointer<PassThroughExchange>) {
        unsafe exchange.pointee.bytes.deallocate()
        unsafe exchange.deinitialize(count: 1)
        unsafe exchange.deallocate()
    }
}
