import RelayBase
import RelayPosix

/// Wall and monotonic time outside any loop.
final class SystemTime: ClockSource {
    func now() -> Instant { Instant(nanoseconds: SystemClock.monotonic()) }

    func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }
}
