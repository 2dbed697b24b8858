import CSystemd
import Glibc

/// A thread for work that may block, with every signal blocked so that signals reach the threads meant for them.
enum ServiceThread {
    /// Starts `body` on a detached thread.
    ///
    /// `name` has at most 15 bytes and is shown by `ps -L`.
    ///
    /// - Returns: false when the kernel refused a thread.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        let work = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let work = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
                unsafe pthread_setname_np(pthread_self(), work.name)
                work.run()
                return nil
            },
            work.toOpaque()
        )
        guard result == 0 else {
            unsafe work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}
