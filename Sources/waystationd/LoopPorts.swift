import RelayCore
import RelayPosix

/// The clocks as tasks of one loop see them.
final class LoopTime: TimeSource {
    private let loop: EventLoop

    init(loop: EventLoop) { self.loop = loop }

    /// On the loop the time its batch began, which is as exact as a wait can be and costs no call.
    func now() -> Instant { Instant(nanoseconds: loop.isCurrent ? loop.now : SystemClock.monotonic()) }

    func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        try await loop.sleep(until: deadline.nanoseconds)
    }
}
