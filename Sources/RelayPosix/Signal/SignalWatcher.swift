import CLinux
import Glibc

/// Hears signals on a loop through a signalfd.
package final class SignalWatcher: Watcher {
    private let received: (Int32) -> Void

    /// Keeps `signals` from interrupting any thread; to be called in main before the first thread is made.
    package static func block(_ signals: [Int32]) {
        var mask = set(of: signals)
        unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }

    /// Whether one of the signals, which are blocked, has come and nobody has heard it yet.
    package static func isPending(_ signals: [Int32]) -> Bool {
        var pending = sigset_t()
        guard unsafe sigpending(&pending) == 0 else { return false }
        return signals.contains { unsafe sigismember(&pending, $0) == 1 }
    }

    /// Makes a write to a closed pipe an error instead of the end of the process.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Makes a write past `RLIMIT_FSIZE` fail with an error instead of ending the process.
    package static func ignoreFileSizeLimit() {
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// Watches until it is removed from the loop; only on the loop.
    ///
    /// The signals are to be blocked in every thread. `received` is called on the loop with each one's
    /// number; several of one kind may come as one.
    package init(
        _ signals: [Int32],
        on loop: EventLoop,
        _ received: @escaping (Int32) -> Void
    ) throws(PosixError) {
        self.received = received
        super.init(loop: loop)
        var mask = Self.set(of: signals)
        let descriptor = FileDescriptor(
            try PosixError.check(
                "signalfd",
                unsafe signalfd(-1, &mask, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
            )
        )
        try loop.add(self, descriptor, .readable)
    }

    override public func ready(_ events: Events) {
        var record = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while descriptor >= 0, unsafe read(descriptor, &record, size) == size {
            received(Int32(bitPattern: record.ssi_signo))
        }
    }

    private static func set(of signals: [Int32]) -> sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for signal in signals { unsafe sigaddset(&mask, signal) }
        return mask
    }
}
