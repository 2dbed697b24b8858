import RelayCore
import RelayPosix
import Synchronization

/// The clocks as tasks of one loop see them.
struct LoopTime: TimeSource {
    let loop: EventLoop

    func now() -> Instant { Instant(nanoseconds: SystemClock.monotonic()) }

    func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        try await loop.sleep(until: deadline.nanoseconds)
    }
}

/// Random numbers for jitter and job ids; never for keys.
final class SharedEntropy: Entropy {
    private let generator = Mutex(FastRandom())

    func next() -> UInt64 { generator.withLock { $0.next() } }
}
