import RelayBase
import RelayPosix

/// The wall clock of a loop, read once a turn, and the `Date` line made of it once a second.
@safe final class LoopClock {
    private let loop: EventLoop
    @safe @exclusivity(unchecked) private var iteration = Int64.min
    @safe @exclusivity(unchecked) private var wall: Int64 = 0
    @safe @exclusivity(unchecked) private var second = Int64.min
    @safe @exclusivity(unchecked) private var line: [UInt8] = []

    init(_ loop: EventLoop) { self.loop = loop }

    /// Milliseconds since 1970 UTC.
    @inline(__always)
    var milliseconds: Int64 {
        let now = loop.now
        if iteration != now {
            iteration = now
            wall = SystemClock.wall() / 1_000_000
        }
        return wall
    }

    /// `Date: Sun, 06 Nov 1994 08:49:37 GMT`, with its line end.
    @inline(__always)
    var dateLine: [UInt8] {
        let present = milliseconds / 1_000
        if present != second {
            second = present
            line = IMFDate.fieldLine(present)
        }
        return line
    }
}
