import Glibc
import RelayPosix

/// open(2) that follows no link and leaks into no child; -1 with errno.
func openFile(_ path: String, _ flags: Int32, mode: mode_t = 0o600) -> Int32 {
    unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
}

/// unlink(2); a file that is not there is no mistake.
func removeFile(_ path: String) {
    unsafe _ = unlink(path)
}

/// Returns `result`, or throws what the call left in errno when it is negative.
@discardableResult
func checked(_ call: String, _ result: Int32, _ path: String) throws(PosixError) -> Int32 {
    guard result >= 0 else { throw PosixError(call, .current, path: path) }
    return result
}
