import RelayBase
import Synchronization

/// A large answer that is in memory, sent by pieces: what the caller has not taken yet is then not there twice.
final class ChunkedBytes: BodySource {
    /// Bytes of a piece.
    static let size = 65_536

    private let bytes: [UInt8]
    private let position: Mutex<Int>

    /// Sends what stands behind the first `start` bytes.
    init(_ bytes: [UInt8], from start: Int = 0) {
        self.bytes = bytes
        position = Mutex(start)
    }

    var length: UInt64? { UInt64(bytes.count) }
    var wasRead: Bool { position.withLock { $0 > 0 } }

    func next() async throws(Failure) -> [UInt8]? {
        position.withLock { position in
            guard position < bytes.count else { return nil }
            let end = min(bytes.count, position + ChunkedBytes.size)
            defer { position = end }
            return Array(bytes[position..<end])
        }
    }

    func cancel() { position.withLock { $0 = bytes.count } }
}
