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

/// pwrite(2) until all of it is written.
func writeAll(_ bytes: [UInt8], at offset: UInt64, to descriptor: Int32, _ path: String) throws(PosixError) {
    var written = 0
    while written < bytes.count {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(
                descriptor,
                $0.baseAddress.map { unsafe $0 + written },
                bytes.count - written,
                off_t(offset) + off_t(written)
            )
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw PosixError("write", .current, path: path) }
        written += count
    }
}

/// An open file with its name, for what an error says.
struct ReadFile {
    let descriptor: Int32
    let path: String

    /// pread(2) until that many bytes are read.
    ///
    /// - Returns: nil where there are fewer.
    func bytes(_ count: Int, at offset: Int) throws(PosixError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe pread(
                    descriptor,
                    $0.baseAddress.map { unsafe $0 + filled },
                    count - filled,
                    off_t(offset) + off_t(filled)
                )
            }
            if got < 0, errno == EINTR { continue }
            guard try checked("read", Int32(clamping: got), path) > 0 else { return nil }
            filled += got
        }
        return bytes
    }
}

/// pread(2) until that many bytes are read.
///
/// - Returns: nil where there are fewer, or they cannot be read.
func readAll(_ count: Int, at offset: UInt64, from descriptor: Int32) -> [UInt8]? {
    try? ReadFile(descriptor: descriptor, path: "").bytes(count, at: Int(offset))
}
