import Glibc
import RelayPosix

/// Reads whole files.
enum FileBytes {
    /// Bytes that are read at most: 1 GiB.
    private static let limit = 1 << 30

    static func read(path: String) throws(CommandFailure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "cannot read \(path): \(errorText())") }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, path)
    }

    /// `name` stands for the file in an error.
    static func read(descriptor: Int32, _ name: String) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw CommandFailure(.failed, "cannot read \(name): \(errorText())")
            }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw CommandFailure(.failed, "cannot read \(name): it is larger than 1 GiB")
            }
        }
    }

    /// Writes a file that is its owner's alone.
    static func write(_ bytes: [UInt8], path: String) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "cannot write \(path): \(errorText())") }
        defer { close(descriptor) }
        guard writeAll(bytes, to: descriptor) else {
            throw CommandFailure(.failed, "cannot write \(path): \(errorText())")
        }
    }
}

/// The error that the last failed call left in errno, in words.
func errorText() -> String { unsafe String(cString: strerror(errno)) }
