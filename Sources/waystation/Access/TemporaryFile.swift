import Glibc

/// A file without a name, which is gone with this.
@safe
struct TemporaryFile: ~Copyable {
    private let file: UnsafeMutablePointer<FILE>

    init() throws(CommandFailure) {
        guard let file = unsafe tmpfile() else {
            throw CommandFailure(.failed, "cannot make a temporary file: \(errorText())")
        }
        unsafe self.file = file
    }

    deinit { unsafe fclose(file) }

    var descriptor: Int32 { unsafe fileno(file) }

    /// Bytes of it so far.
    var size: Int { FileBytes.size(of: descriptor) }

    /// Its content from the beginning, of at most so many bytes, and whether there are more.
    func content(limit: Int) -> (bytes: [UInt8], isCut: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe pread(descriptor, &buffer, buffer.count, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (bytes, false) }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { return (Array(bytes[..<limit]), true) }
        }
    }
}
