/// Bytes on their way out, composed piece by piece: a head has thirty of them, and an array would check each for other
/// owners and for room twice.
@safe package struct OutputBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private(set) package var capacity: Int
    /// Bytes that are in it.
    private(set) package var count = 0

    package init(capacity: Int = 1_024) {
        self.capacity = max(1, capacity)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// Lends what is in it.
    package borrowing func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe Span(_unsafeStart: start, count: count))
    }

    /// A copy of all there is.
    package var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Forgets what is in it, and keeps its room.
    package mutating func removeAll() { count = 0 }

    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        unsafe start[count] = byte
        count &+= 1
    }

    @inline(__always)
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return }
            unsafe append(first, bytes.count)
        }
    }

    package mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

    @inline(__always)
    package mutating func append(_ text: StaticString) {
        unsafe append(text.utf8Start, text.utf8CodeUnitCount)
    }

    package mutating func append(text: String) { append(text.utf8.span) }

    /// The number in decimal digits.
    package mutating func append(decimal number: UInt64) {
        var (rest, place) = (number, 1)
        while rest > 9 {
            rest /= 10
            place += 1
        }
        if capacity - count < place { grow(by: place) }
        rest = number
        for index in (0..<place).reversed() {
            unsafe start[count + index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += place
    }

    @inline(__always)
    private mutating func append(_ first: UnsafePointer<UInt8>, _ size: Int) {
        if capacity &- count < size { grow(by: size) }
        unsafe (start + count).update(from: first, count: size)
        count &+= size
    }

    @inline(never)
    private mutating func grow(by size: Int) {
        let wanted = max(capacity * 2, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
        unsafe larger.update(from: start, count: count)
        unsafe start.deallocate()
        unsafe start = larger
        capacity = wanted
    }
}

/// Lends one buffer again and again, to whoever is on its loop.
package final class OutputLoan {
    /// The capacity that is kept between two uses; a buffer that had to grow beyond four times as much is let go.
    private static let kept = 65_536

    @safe @exclusivity(unchecked) private var spare: OutputBuffer?

    package init() {}

    /// Lends an empty buffer to compose output in; keep nothing of it.
    package func compose<R, E: Error>(_ body: (inout OutputBuffer) throws(E) -> R) throws(E) -> R {
        // Taken out while it is lent, so that a nested use gets one of its own.
        var output = spare.take() ?? OutputBuffer(capacity: OutputLoan.kept)
        output.removeAll()
        do throws(E) {
            let result = try body(&output)
            giveBack(output)
            return result
        } catch {
            giveBack(output)
            throw error
        }
    }

    private func giveBack(_ output: consuming OutputBuffer) {
        if output.capacity <= OutputLoan.kept * 4 { spare = consume output }
    }
}
