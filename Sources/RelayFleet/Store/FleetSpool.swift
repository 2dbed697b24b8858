import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayRecords
import Synchronization

/// A body on its way to rows of the database, a piece each.
final class FleetSpool: BodySpool {
    private let store: PostgreSQLJobStore
    private let name: [UInt8]
    private let state = Mutex(State())

    private struct State: Sendable {
        var length: UInt64 = 0
        /// The bytes that have not made a whole piece yet.
        var remainder: [UInt8] = []
        var checksums: [UInt32] = []
        var isOver = false
    }

    init(_ store: PostgreSQLJobStore) {
        self.store = store
        var random = SystemRandomNumberGenerator()
        name = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    func append(_ piece: [UInt8]) async throws(StoreError) {
        let whole = state.withLock { state in
            state.remainder += piece
            var whole: [[UInt8]] = []
            while state.remainder.count >= StoredBodyFile.pieceSize {
                whole.append(Array(state.remainder.prefix(StoredBodyFile.pieceSize)))
                state.remainder.removeFirst(StoredBodyFile.pieceSize)
            }
            return whole
        }
        for piece in whole { try await put(piece) }
    }

    func finish() async throws(StoreError) -> StoredBodyFile {
        let rest = state.withLock { state in
            defer { state.remainder = [] }
            return state.remainder
        }
        if !rest.isEmpty { try await put(rest) }
        return state.withLock { state in
            state.isOver = true
            return StoredBodyFile(
                name: FleetPiece.text(of: name),
                length: state.length,
                checksums: state.checksums
            )
        }
    }

    /// The rows that are there go with their slot.
    func discard() { state.withLock { $0.isOver = true } }

    private func put(_ piece: [UInt8]) async throws(StoreError) {
        let index = try state.withLock { state throws(StoreError) in
            guard !state.isOver else { throw StoreError(.closed, "cannot add to a body that was given up") }
            let index = state.checksums.count
            state.checksums.append(Checksum.of(piece, at: Int64(index)))
            state.length += UInt64(piece.count)
            return index
        }
        let name = name
        try await store.onLoop { core throws(StoreError) in
            try await core.put(piece, index, of: name)
        }
    }
}

extension FleetCore {
    func put(_ piece: [UInt8], _ index: Int, of name: [UInt8]) async throws(StoreError) {
        _ = try await write(
            "keep a body",
            [
                PostgresStatement(
                    """
                    INSERT INTO \(statements.s).piece(slot, body, n, generation, bytes) VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT DO NOTHING
                    """,
                    [
                        .int16(heads.job), .bytes(name), .int32(Int32(index)), .int64(generation),
                        .bytes(piece),
                    ]
                )
            ]
        )
    }

    func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        let damage = StoreError(.corrupt, "cannot read piece \(index) of a body: it is not what was stored")
        guard let name = FleetPiece.name(file.name), file.checksums.indices.contains(index) else {
            throw damage
        }
        let result = try await round(
            "read a body",
            [
                PostgresStatement(
                    "SELECT bytes FROM \(statements.s).piece WHERE body = $1 AND n = $2 LIMIT 1",
                    [.bytes(name), .int32(Int32(index))]
                )
            ]
        )[0]
        guard let piece = result.bytes(0, 0), Checksum.of(piece, at: Int64(index)) == file.checksums[index]
        else {
            throw damage
        }
        return piece
    }

    /// Removes bodies that earlier processes began and no job has; one that this process began may still grow.
    func removeOrphans() async throws(StoreError) {
        let others = former.filter { $0 < firstGeneration }
        guard !others.isEmpty else { return }
        let s = statements.s
        _ = try await round(
            "remove bodies that no job has",
            [
                PostgresStatement(
                    """
                    DELETE FROM \(s).piece p WHERE generation = ANY($1::bigint[])
                    AND NOT EXISTS (SELECT FROM \(s).job j WHERE j.pieces = p.body)
                    AND NOT EXISTS (SELECT FROM \(s).change c WHERE c.pieces = p.body)
                    """,
                    [.int64s(others)]
                )
            ]
        )
    }
}
