import CSQLite
import Glibc
import RelayBase
import RelayPosix

extension StoreError {
    /// The error for the result of a call of SQLite's (https://www.sqlite.org/rescode.html).
    ///
    /// `system` is errno as the database has kept it.
    static func sqlite(_ call: String, _ result: Int32, system: Int32, path: String) -> StoreError {
        let text = unsafe String(cString: sqlite3_errstr(result))
        let place = "the job store \(path)"
        switch result & 0xFF {
        case SQLITE_FULL:
            return StoreError(
                .full,
                "cannot \(call) in \(place): no space is left; make room on its file system"
            )
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return StoreError(
                .corrupt,
                "cannot \(call) in \(place): \(text); it is left as it is: restore a backup, or move jobs.db* and lock away",
                isStructural: true
            )
        case SQLITE_INTERRUPT:
            return StoreError(.slow, "cannot \(call) in \(place): it took too long; ask for less at a time")
        case _ where Self.diskFull.contains(result) && [EFBIG, EDQUOT, ENOSPC].contains(system):
            return StoreError(
                .full,
                "cannot \(call) in \(place): \(Errno(rawValue: system)); make room for it"
            )
        default:
            let cause = system == 0 ? "" : " (\(Errno(rawValue: system)))"
            return StoreError(
                .failed,
                "cannot \(call) in \(place): \(text), code \(result)\(cause); see the disk's state"
            )
        }
    }

    /// Results of steps that fail for want of room and leave the disk as it was; Swift does not see most of the names.
    ///
    /// A sync is not among them: what it should have put on disk may be lost.
    private static let diskFull: [Int32] = [
        SQLITE_CANTOPEN,
        SQLITE_IOERR | 3 << 8,  // SQLITE_IOERR_WRITE
        SQLITE_IOERR | 6 << 8,  // SQLITE_IOERR_TRUNCATE
        SQLITE_IOERR | 18 << 8,  // SQLITE_IOERR_SHMOPEN
        SQLITE_IOERR | 19 << 8,  // SQLITE_IOERR_SHMSIZE
    ]

    static func damaged(_ what: String, _ id: String) -> StoreError {
        StoreError(.corrupt, "cannot read \(what) of job \(id): it is not what was stored")
    }
}
