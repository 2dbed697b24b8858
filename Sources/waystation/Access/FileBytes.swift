import Glibc
import RelayPosix

/// Reads whole files.
enum FileBytes {
    /// Bytes that are read at most: 1 GiB.
    private static let most = 1 << 30

    static func read(path: String, limit: Int = most) throws(CommandFailure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "cannot read \(path): \(errorText())") }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, path, limit: limit)
    }

    /// `name` stands for the file in an error.
    static func read(descriptor: Int32, _ name: String, limit: Int = most) throws(CommandFailure) -> [UInt8] {
        guard size(of: descriptor) <= limit else { throw tooLarge(name, limit) }
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
            guard bytes.count <= limit else { throw tooLarge(name, limit) }
        }
    }

    /// Bytes of a file; nothing of what is none.
    static func size(of descriptor: Int32) -> Int {
        var facts = stat()
        return unsafe fstat(descriptor, &facts) == 0 ? Int(facts.st_size) : 0
    }

    private static func tooLarge(_ name: String, _ limit: Int) -> CommandFailure {
        CommandFailure(.failed, "cannot read \(name): it is larger than \(limit >> 20) MiB")
    }

    /// Writes a file that is its owner's alone, also where it was not before.
    static func write(_ bytes: [UInt8], path: String) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "cannot write \(path): \(errorText())") }
        defer { close(descriptor) }
        var facts = stat()
        if unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            fchmod(descriptor, 0o600) != 0
        {
            throw CommandFailure(.failed, "cannot make \(path) its owner's alone: \(errorText())")
        }
        guard writeAll(bytes, to: descriptor) else {
            throw CommandFailure(.failed, "cannot write \(path): \(errorText())")
        }
    }
}

/// The error that the last failed call left in errno, in words.
func errorText() -> String { unsafe String(cString: strerror(errno)) }
