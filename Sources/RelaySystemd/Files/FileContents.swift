package import Glibc
import RelayPosix

/// A regular file, read whole and bounded.
package struct FileContents {
    package let bytes: [UInt8]
    package let mode: mode_t

    package struct ReadError: Error {
        package let reason: String
    }

    package init(_ path: String, limit: Int) throws(ReadError) {
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard raw >= 0 else { throw ReadError(reason: Errno.current.description) }
        let descriptor = FileDescriptor(raw)
        var facts = stat()
        guard unsafe fstat(descriptor.raw, &facts) == 0 else {
            throw ReadError(reason: Errno.current.description)
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw ReadError(reason: "it is not a regular file") }
        mode = facts.st_mode
        var bytes: [UInt8] = []
        while true {
            // An array of zeros would be written byte by byte in a room that is built for size.
            var (count, failure) = (0, Errno.current)
            let part = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
                count = unsafe Glibc.read(descriptor.raw, buffer.baseAddress, buffer.count)
                // Freeing the buffer may change it.
                failure = .current
                filled = max(0, count)
            }
            if count == 0 { break }
            guard count > 0 else {
                if failure.rawValue == EINTR { continue }
                throw ReadError(reason: failure.description)
            }
            guard bytes.count + count <= limit else {
                throw ReadError(reason: "it is larger than \(limit) bytes")
            }
            bytes += part
        }
        self.bytes = bytes
    }
}
