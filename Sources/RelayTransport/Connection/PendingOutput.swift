import RelayRoute

/// The bytes that the socket has not taken yet: first those of our own making, then those lent by a body.
struct PendingOutput {
    private var head: [UInt8] = []
    private var headOffset = 0
    private var body: [UInt8] = []
    private var bodyOffset = 0
    /// The memory that it takes, where nobody else counts that.
    var reservation: MemoryReservation?

    var isEmpty: Bool { headOffset == head.count && bodyOffset == body.count }

    /// Adds to an empty output, skipping what was written already.
    mutating func set(head: [UInt8], body: [UInt8], skipping written: Int) {
        let fromHead = min(written, head.count)
        self.head = head
        headOffset = fromHead
        self.body = body
        bodyOffset = written - fromHead
    }

    /// Lends the rest, in order, as two runs.
    func withRemainder<R>(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> R) -> R {
        unsafe head.withUnsafeBytes { first in
            unsafe self.body.withUnsafeBytes { second in
                unsafe body(
                    UnsafeRawBufferPointer(rebasing: first[headOffset...]),
                    UnsafeRawBufferPointer(rebasing: second[bodyOffset...])
                )
            }
        }
    }

    /// Takes note that `count` bytes were written, and lets go of the memory at the end.
    mutating func advance(_ count: Int) {
        let fromHead = min(count, head.count - headOffset)
        headOffset += fromHead
        bodyOffset += count - fromHead
        if isEmpty { self = PendingOutput() }
    }
}
