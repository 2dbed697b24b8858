public import RelayBase
import RelayPosix
import Synchronization

/// The machine's clocks.
public final class MachineTime: TimeSource {
    /// The machine's clocks.
    public init() {}

    /// Nanoseconds since boot.
    public func now() -> Instant { Instant(nanoseconds: SystemClock.monotonic()) }

    /// Milliseconds since 1970, UTC.
    public func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }

    /// Returns at `deadline`, or throws at once when the task is cancelled.
    public func sleep(until deadline: Instant) async throws(CancellationError) {
        let wait = now().duration(to: deadline)
        guard wait > .zero else {
            if Task.isCancelled { throw CancellationError() }
            return
        }
        do {
            try await Task.sleep(for: wait, tolerance: .zero)
        } catch {
            throw CancellationError()
        }
    }
}

/// Random numbers for jitter and job ids, seeded by the kernel; never for keys.
public final class MachineEntropy: Entropy {
    private let generator = Mutex(FastRandom())

    /// A generator with a seed of its own.
    public init() {}

    /// The next number.
    public func next() -> UInt64 { generator.withLock { $0.next() } }
}
