import Glibc

/// Writes to standard output and standard error, whole.
enum Output {
    static func text(_ text: String) { bytes(Array(text.utf8)) }

    static func bytes(_ bytes: [UInt8]) { write(bytes, to: 1) }

    static func error(_ text: String) { write(Array(text.utf8), to: 2) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.span.extracting(offset..<bytes.count).withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count > 0 { offset += count } else if errno != EINTR { return }
        }
    }
}
