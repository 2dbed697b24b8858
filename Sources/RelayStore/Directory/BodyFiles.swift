import Glibc
import RelayBase
import RelayJobs
import RelayPosix
import RelayRecords

/// The bodies that are too large for a row; used on the thread for files only.
struct BodyFiles: Sendable {
    let directory: String
    /// Begins the names of this run's files: a sweep leaves them alone.
    let epoch: Int64

    func path(_ name: String) -> String { directory + "/" + name }

    /// Whether a name is one of ours; nothing else is ever opened or removed.
    static func isName(_ name: String) -> Bool {
        name.utf8.count <= 40 && name.hasPrefix("b")
            && name.utf8.dropFirst().allSatisfy {
                $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "-")
            }
    }

    func remove(_ names: [String]) {
        for name in names where Self.isName(name) { removeFile(path(name)) }
    }

    func read(_ index: Int, of file: StoredBodyFile) throws(StoreError) -> [UInt8] {
        let start = UInt64(index) * UInt64(StoredBodyFile.pieceSize)
        guard Self.isName(file.name), file.checksums.indices.contains(index), start < file.length else {
            throw StoreError(.corrupt, "cannot read piece \(index) of a stored body: there is no such piece")
        }
        let count = Int(min(UInt64(StoredBodyFile.pieceSize), file.length - start))
        let descriptor = openFile(path(file.name), O_RDONLY)
        guard descriptor >= 0 else {
            throw StoreError(
                .corrupt,
                "cannot read a stored body: \(PosixError("open", .current, path: path(file.name)))"
            )
        }
        defer { close(descriptor) }
        guard let piece = readAll(count, at: start, from: descriptor),
            Checksum.of(piece, at: Int64(index)) == file.checksums[index]
        else {
            throw StoreError(.corrupt, "cannot read the stored body \(file.name): it is not what was stored")
        }
        return piece
    }

    /// The files of earlier runs.
    func earlier() -> [String] {
        guard let listing = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(listing) }
        var names: [String] = []
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if Self.isName(name), !name.hasPrefix("b\(epoch)-") { names.append(name) }
        }
        return names
    }
}

extension WorkerThread<BodyFiles> {
    /// Removes the files of earlier runs that belong to no job.
    func removeOrphans(unknownTo reader: WorkerThread<StoreReader>) {
        start { files in
            let names = files.earlier()
            // One by one, so that nobody's read waits for all of them.
            for name in names {
                reader.start { reader in
                    guard let select = try? reader.database.statement("SELECT 1 FROM file WHERE name = ?")
                    else { return }
                    select.bind(1, name)
                    defer { select.reset() }
                    // Only a certain no removes anything.
                    if (try? select.step()) == false { files.remove([name]) }
                }
            }
        }
    }
}
