import Glibc
import RelayPosix

/// Writes to standard output and standard error, whole.
enum Output {
    static func text(_ text: String) { bytes(Array(text.utf8)) }

    static func bytes(_ bytes: [UInt8]) { _ = writeAll(bytes, to: STDOUT_FILENO) }

    static func error(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }
}
