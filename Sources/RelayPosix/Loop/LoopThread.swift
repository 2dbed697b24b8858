import CLinux
import Glibc

/// Names the calling thread for as long as it lives.
@usableFromInline
func currentThread() -> UInt {
    UInt(pthread_self())
}

/// Starts a thread that nobody waits for, with every signal blocked.
package func startDetachedThread(
    _ name: String,
    stackSize: Int = 1 << 20,
    _ body: @escaping @Sendable () -> Void
) throws(PosixError) {
    pthread_detach(try startThread(name, stackSize: stackSize, body))
}

/// Starts a thread with every signal blocked, so that signals are seen only where they are waited for.
///
/// The thread is to be joined or detached; its stack has `stackSize` bytes, at least 64 KiB.
func startThread(
    _ name: String,
    stackSize: Int = 1 << 20,
    _ body: @escaping @Sendable () -> Void
) throws(PosixError) -> pthread_t {
    final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setstacksize(&attributes, stackSize)

    // A new thread inherits the mask of the one that makes it.
    var everything = sigset_t()
    var previous = sigset_t()
    unsafe sigfillset(&everything)
    unsafe pthread_sigmask(SIG_SETMASK, &everything, &previous)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }

    let start = unsafe Unmanaged.passRetained(Start(name, body))
    var thread = pthread_t()
    let result = unsafe pthread_create(
        &thread,
        &attributes,
        { argument in
            guard let argument = unsafe argument else { return nil }
            let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            // The kernel keeps fifteen bytes of a thread's name.
            unsafe pthread_setname_np(pthread_self(), String(start.name.prefix(15)))
            start.body()
            return nil
        },
        start.toOpaque()
    )
    guard result == 0 else {
        unsafe start.release()
        throw PosixError("pthread_create", Errno(rawValue: result))
    }
    return thread
}

/// Starts a thread for work that may block and that nobody waits for; every signal is blocked on it.
///
/// `name` is shown by `ps -L`; the kernel keeps fifteen bytes of it.
package func startDetachedThread(
    _ name: String,
    _ body: @escaping @Sendable () -> Void
) throws(PosixError) {
    pthread_detach(try startThread(name, body))
}
