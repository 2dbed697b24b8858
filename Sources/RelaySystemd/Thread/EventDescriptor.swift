import CLinux
import Glibc
import RelayPosix

/// An eventfd one thread waits on and any thread signals.
package final class EventDescriptor: Sendable {
    private let descriptor: Int32

    /// Fails when the process has no descriptor left.
    package init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Wakes the waiter; signals sent before it wakes count as one.
    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Waits for a signal and takes it.
    ///
    /// - Parameter milliseconds: the longest wait; nil waits for ever.
    /// - Returns: false when the time was up first.
    @discardableResult
    package func wait(milliseconds: Int32?) -> Bool {
        let deadline = milliseconds.map { SystemClock.monotonic() + Int64($0) * 1_000_000 }
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = deadline.map { ($0 - SystemClock.monotonic() + 999_999) / 1_000_000 } ?? -1
            let ready = unsafe poll(&entry, 1, deadline == nil ? -1 : Int32(clamping: max(0, left)))
            if ready > 0 {
                var count: UInt64 = 0
                if unsafe read(descriptor, &count, 8) == 8 { return true }
            } else if ready == 0 {
                return false
            }
        }
    }
}
