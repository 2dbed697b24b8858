/// Takes the body of one message out of the bytes of its connection.
///
/// Feed it until `isComplete`; it never takes a byte beyond the body, so what it leaves is the next message.
package struct BodyDecoder: Sendable {
    private enum State {
        case complete
        /// So many bytes are still to come, at least one.
        case counted(UInt64)
        case chunked(ChunkMachine)
        case untilClose
    }

    private var state: State

    package init(framing: BodyFraming, limits: HTTPLimits = HTTPLimits()) {
        state =
            switch framing {
            case .none, .length(0): .complete
            case .length(let length): .counted(length)
            case .chunked: .chunked(ChunkMachine(limits: limits))
            case .untilClose: .untilClose
            }
    }

    /// Whether the whole body was taken; never for a body that ends with its connection.
    package var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    /// Takes note that the sender closed its side.
    ///
    /// - Returns: whether the body is whole; false means the message was cut short.
    package mutating func connectionClosed() -> Bool {
        switch state {
        case .complete, .untilClose:
            state = .complete
            return true
        case .counted, .chunked: return false
        }
    }

    /// Appends the body's bytes among `bytes` to `output`.
    ///
    /// - Returns: how many of the given bytes were taken (all of them unless the body is complete).
    package mutating func decode(
        _ bytes: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(HTTPParseError) -> (consumed: Int, isComplete: Bool) {
        var consumed = 0
        while consumed < bytes.count, !isComplete {
            let piece = try next(bytes, from: consumed)
            if output.capacity == 0 {
                output = bytes.copy(piece)
            } else {
                let run = bytes.extracting(piece)
                unsafe run.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
            }
            consumed = piece.upperBound
        }
        return (consumed, isComplete)
    }

    /// Finds the next run of body bytes at or after `start`, without copying.
    ///
    /// - Returns: where the run stands; go on behind it. It is empty when the rest of `bytes` up to its end
    ///   was framing, or when the body is complete.
    package mutating func next(_ bytes: Span<UInt8>, from start: Int = 0) throws(HTTPParseError) -> Range<Int>
    {
        let available = bytes.count - start
        switch state {
        case .complete:
            return start..<start
        case .untilClose:
            return start..<bytes.count
        case .counted(let remaining):
            let count = remaining < UInt64(available) ? Int(remaining) : available
            state = UInt64(count) == remaining ? .complete : .counted(remaining - UInt64(count))
            return start..<start + count
        case .chunked(var machine):
            let run = try machine.next(bytes, from: start)
            state = machine.isComplete ? .complete : .chunked(machine)
            return run
        }
    }

    /// How many bytes are still to come; nil where only their framing or their end tells.
    package var remaining: UInt64? {
        switch state {
        case .complete: 0
        case .counted(let remaining): remaining
        case .chunked, .untilClose: nil
        }
    }

    /// How many of `available` bytes are body, where no framing stands between them; nil for a chunked body.
    package mutating func take(_ available: Int) -> Int? {
        switch state {
        case .complete: return 0
        case .untilClose: return available
        case .counted(let remaining):
            let count = remaining < UInt64(available) ? Int(remaining) : available
            state = UInt64(count) == remaining ? .complete : .counted(remaining - UInt64(count))
            return count
        case .chunked: return nil
        }
    }
}
