import CLinux
import Glibc
import RelayBase
import RelayPosix

/// Looks at the files before anything is touched.
///
/// Refused is only what is known to be wrong: that a file cannot be read now says nothing of what is in it.
extension StoreWriter {
    /// Refuses what is not ours, newer or damaged.
    ///
    /// - Returns: whether there is a database.
    static func inspect(_ directory: StoreDirectory) throws(StoreError) -> Bool {
        let path = directory.database
        let size = try usableSize(path)
        let hasLog = try usableSize(directory.log) ?? 0 > 0
        // SQLite would only say that it cannot be opened.
        _ = try usableSize(path + "-shm")
        guard let size else {
            guard !directory.wasUsed else {
                throw damaged(path, "there is no such file although there was a store")
            }
            return false
        }
        // A crash of an earlier version in the middle of making a store left an empty file.
        if size == 0, !directory.wasUsed { return false }
        guard let header = try header(path) else { throw damaged(path, "it has been cut short") }
        func word(_ index: Int) -> Int64 { header[index..<index + 4].reduce(0) { $0 << 8 | Int64($1) } }
        guard header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw damaged(path, "it is no database")
        }
        // Its first page lists what is in it, unless all of that is in the log.
        let isEmpty = word(68) == 0 && header[103...104].allSatisfy { $0 == 0 }
        guard word(68) == Schema.applicationID || isEmpty else { throw Schema.foreign(path) }
        guard word(60) <= Schema.version || isEmpty else { throw Schema.newer(word(60), path: path) }
        guard word(52) == 0 else { throw Schema.vacuumed(path) }
        let pageSize = word(14) & 0xFFFF == 1 ? 65_536 : word(14) & 0xFFFF
        guard hasLog || size >= word(28) * pageSize else { throw damaged(path, "it has been cut short") }
        guard try !isLogDamaged(directory.log) else {
            throw damaged(directory.log, "acknowledged jobs stand behind a damaged part")
        }
        return true
    }

    /// The size of a file that can be read and written; nil where there is none.
    private static func usableSize(_ path: String) throws(StoreError) -> Int64? {
        let descriptor = openFile(path, O_RDWR)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .directory(PosixError("open", .current, path: path))
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .directory(PosixError("stat", .current, path: path))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw damaged(path, "it is no file") }
        return Int64(status.st_size)
    }

    /// The database's header and that of its first page; nil where it is shorter.
    private static func header(_ path: String) throws(StoreError) -> [UInt8]? {
        do throws(PosixError) {
            let file = FileDescriptor(try checked("open", openFile(path, O_RDONLY), path))
            return try ReadFile(descriptor: file.raw, path: path).bytes(108, at: 0)
        } catch { throw .directory(error) }
    }

    private static func isLogDamaged(_ path: String) throws(StoreError) -> Bool {
        do throws(PosixError) {
            return try LogCheck.look(path) == .damaged
        } catch { throw .directory(error) }
    }

    static func damaged(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .corrupt,
            "cannot open the job store \(path): \(what); it is left as it is: restore a backup, or move jobs.db* and lock away"
        )
    }
}
