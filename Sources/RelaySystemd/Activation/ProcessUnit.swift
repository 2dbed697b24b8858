import CSystemd
import Glibc

/// The systemd unit a process belongs to; nil when it has none or is gone.
///
/// Reads `/proc/PID/cgroup`: a few microseconds. The id may have been taken by another process since the kernel
/// named it, so the answer is for records and never for a decision.
package func unitOfProcess(_ process: Int32) -> String? {
    guard process > 0 else { return nil }
    var unit: UnsafeMutablePointer<CChar>?
    guard unsafe sd_pid_get_unit(process, &unit) >= 0, let text = unsafe unit else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
}
