import Glibc
import RelayBase
import RelayJobs
import RelayPosix
import RelayRecords
import Synchronization

/// A body on its way to a file.
final class FileSpool: BodySpool {
    private let name: String
    private let files: BodyFiles
    private let thread: WorkerThread<BodyFiles>
    private let state: Mutex<State>

    private struct State: Sendable {
        var descriptor: Int32
        var length: UInt64 = 0
        /// The bytes that have not made a whole piece yet.
        var remainder: [UInt8] = []
        var checksums: [UInt32] = []
    }

    /// On the thread for files.
    init(_ number: UInt64, files: BodyFiles, thread: WorkerThread<BodyFiles>) throws(StoreError) {
        name = "b\(files.epoch)-\(number)"
        self.files = files
        self.thread = thread
        let path = files.path(name)
        do throws(PosixError) {
            state = Mutex(
                State(descriptor: try checked("open", openFile(path, O_WRONLY | O_CREAT | O_EXCL), path))
            )
        } catch { throw StoreError.directory(error) }
    }

    deinit { discard() }

    func append(_ piece: [UInt8]) async throws(StoreError) {
        try await thread.perform { [self] _ throws(StoreError) in try write(piece) }
    }

    func finish() async throws(StoreError) -> StoredBodyFile {
        try await thread.perform { [self] _ throws(StoreError) in try end() }
    }

    func discard() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            close(state.descriptor)
            state.descriptor = -1
            removeFile(files.path(name))
        }
    }

    private func write(_ piece: [UInt8]) throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            state.remainder += piece
            while state.remainder.count >= StoredBodyFile.pieceSize {
                let whole = Array(state.remainder.prefix(StoredBodyFile.pieceSize))
                state.remainder.removeFirst(StoredBodyFile.pieceSize)
                try put(whole, &state)
            }
        }
    }

    private func put(_ piece: [UInt8], _ state: inout State) throws(StoreError) {
        guard state.descriptor >= 0 else {
            throw StoreError(.closed, "cannot add to a body that was given up")
        }
        do throws(PosixError) {
            try writeAll(piece, at: state.length, to: state.descriptor, files.path(name))
        } catch { throw StoreError.directory(error) }
        state.checksums.append(Checksum.of(piece, at: Int64(state.checksums.count)))
        state.length += UInt64(piece.count)
    }

    /// Writes the rest; then the file and its name are on disk.
    private func end() throws(StoreError) -> StoredBodyFile {
        try state.withLock { state throws(StoreError) in
            if !state.remainder.isEmpty { try put(state.remainder, &state) }
            state.remainder = []
            guard state.descriptor >= 0 else {
                throw StoreError(.closed, "cannot end a body that was given up")
            }
            do throws(PosixError) {
                try checked("fsync", fsync(state.descriptor), files.path(name))
                try StoreDirectory.sync(files.directory)
            } catch {
                throw StoreError(.failed, "cannot put a body on disk: \(error)")
            }
            close(state.descriptor)
            state.descriptor = -1
            return StoredBodyFile(name: name, length: state.length, checksums: state.checksums)
        }
    }
}
