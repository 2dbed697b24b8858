package import RelayBase

/// A body as a store keeps it: beside the record, or in a file of the store's.
package enum StoredBody: Hashable, Sendable {
    case bytes([UInt8])
    /// Too large for a row; `JobStore.piece` reads it.
    case file(StoredBodyFile)
    /// Dropped by retention or by an operator.
    case expunged

    package var length: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .file(let file): file.length
        case .expunged: 0
        }
    }
}

/// A body in a file: pieces of one MiB, each with its checksum, the last one shorter.
package struct StoredBodyFile: Hashable, Sendable {
    /// Bytes of every piece but the last.
    package static let pieceSize = 1 << 20

    /// Means something to the store only.
    package var name: String
    package var length: UInt64
    package var checksums: [UInt32]

    package init(name: String, length: UInt64, checksums: [UInt32]) {
        self.name = name
        self.length = length
        self.checksums = checksums
    }
}

/// A body on its way to a file of a store.
package protocol BodySpool: AnyObject, Sendable {
    func append(_ piece: [UInt8]) async throws(StoreError)

    /// Puts the file on disk; it lives from then on when a job is accepted with it.
    func finish() async throws(StoreError) -> StoredBodyFile

    /// Gives the file up; does nothing once it is finished.
    func discard()
}
