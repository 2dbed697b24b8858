import CLinux
import Glibc

/// The machine's clocks.
package enum SystemClock {
    /// Nanoseconds since boot; never goes back.
    package static func monotonic() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Nanoseconds since boot, those in which the machine slept included.
    package static func boot() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Nanoseconds since 1970-01-01 UTC; may jump either way.
    package static func wall() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Seconds since 1970-01-01 UTC; may jump either way.
    package static func wallSeconds() -> Int64 {
        wall() / 1_000_000_000
    }
}
