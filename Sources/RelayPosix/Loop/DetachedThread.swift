import Glibc

/// Starts a thread for work that may block and that nobody waits for; every signal is blocked on it.
///
/// `name` is shown by `ps -L`; the kernel keeps fifteen bytes of it.
package func startDetachedThread(
    _ name: String,
    _ body: @escaping @Sendable () -> Void
) throws(PosixError) {
    pthread_detach(try startThread(name, body))
}
