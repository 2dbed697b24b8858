import CLinux
import Glibc

/// Hears on a loop that the wall clock has been set, or has gone on without the machine (`TFD_TIMER_CANCEL_ON_SET`).
package final class ClockStepWatcher: Watcher {
    private let stepped: () -> Void

    /// Seconds since 1970 at which the timer itself is over: never.
    private static let never = 1 << 40

    /// Watches until it is removed from the loop; only on the loop, where `stepped` is called.
    package init(on loop: EventLoop, _ stepped: @escaping () -> Void) throws(PosixError) {
        self.stepped = stepped
        super.init(loop: loop)
        let flags = Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)
        let descriptor = FileDescriptor(
            try PosixError.check("timerfd_create", timerfd_create(CLOCK_REALTIME, flags))
        )
        try Self.arm(descriptor.raw)
        try loop.add(self, descriptor, .readable)
    }

    private static func arm(_ descriptor: Int32) throws(PosixError) {
        var time = itimerspec()
        time.it_value.tv_sec = never
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        try PosixError.check("timerfd_settime", unsafe timerfd_settime(descriptor, flags, &time, nil))
    }

    override public func ready(_ events: Events) {
        var count: UInt64 = 0
        let result = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
        guard result < 0, errno == ECANCELED else { return }
        stepped()
    }
}
