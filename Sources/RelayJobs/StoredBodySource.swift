package import RelayBase
import Synchronization

/// A body in a file of a store, read piece by piece; it can begin again as often as it must.
package final class StoredBodySource: BodySource {
    package typealias Piece = @Sendable (Int, StoredBodyFile) async throws(StoreError) -> [UInt8]

    private enum Position {
        case piece(Int)
        case over
    }

    private let file: StoredBodyFile
    private let piece: Piece
    private let position = Mutex(Position.piece(0))

    /// Reads `file` with `piece`, which is `JobStore.piece` of the store that has it.
    package init(_ file: StoredBodyFile, piece: @escaping Piece) {
        self.file = file
        self.piece = piece
    }

    /// Reads `file` from the store that has it.
    package convenience init(_ file: StoredBodyFile, in store: any JobStore) {
        self.init(file) { (index, file) async throws(StoreError) in try await store.piece(index, of: file) }
    }

    package var length: UInt64? { file.length }

    package var wasRead: Bool {
        position.withLock { if case .piece(0) = $0 { false } else { true } }
    }

    package func next() async throws(Failure) -> [UInt8]? {
        let index = position.withLock { position -> Int? in
            guard case .piece(let index) = position, index < file.checksums.count else {
                position = .over
                return nil
            }
            position = .piece(index + 1)
            return index
        }
        guard let index else { return nil }
        do throws(StoreError) {
            return try await piece(index, file)
        } catch {
            cancel()
            throw Failure(
                error.code == .corrupt ? .storedBodyCorrupt : .storedBodyUnread,
                sent: .neverSent,
                error.message
            )
        }
    }

    package func cancel() { position.withLock { $0 = .over } }

    package func restarted() -> (any BodySource)? { StoredBodySource(file, piece: piece) }
}

extension StoredBody {
    /// The body as a request carries it; nil once it is expunged.
    package func body(from store: any JobStore) -> Body? {
        switch self {
        case .bytes(let bytes): bytes.isEmpty ? .empty : .bytes(bytes)
        case .file(let file): .stream(StoredBodySource(file, in: store))
        case .expunged: nil
        }
    }
}
