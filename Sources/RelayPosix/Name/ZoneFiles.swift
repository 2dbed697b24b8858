import Glibc

/// The files of the system's tz database.
package enum ZoneFiles {
    /// Bytes at most; a file that is longer is cut off one byte later.
    private static let limit = 65_536

    /// The file of the zone of that name; nil where it cannot be read, or the name may lead out of the database.
    package static func read(_ name: String) -> [UInt8]? {
        let isPlain = name.utf8.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
                || byte == UInt8(ascii: "/")
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
        }
        guard isPlain, !name.isEmpty, name.utf8.count <= 64 else { return nil }
        // Without a writer a pipe in its place would never open.
        let raw = unsafe open("/usr/share/zoneinfo/" + name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { return nil }
        let file = FileDescriptor(raw)
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
                unsafe count = max(0, Glibc.read(file.raw, buffer.baseAddress, 4_096))
            }
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }
}
