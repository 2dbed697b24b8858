import Glibc
import RelaySystemd

/// Another start by the same process, in the place of one that was refused.
///
/// For the service manager the first one goes on, so that a reload somebody has asked for meanwhile is done after it, and
/// callers are served without another caller or operator who starts the daemon. TimeoutStartSec= bounds all of them.
enum NewStart {
    /// Returns only where the system refuses it.
    static func begin(with sockets: [ActivatedSockets.Listener]) {
        ActivatedSockets.passOn(sockets)
        _ = unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
    }
}
