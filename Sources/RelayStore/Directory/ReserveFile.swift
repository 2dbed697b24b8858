import Glibc
import RelayJobs
import RelayPosix

/// Disk space kept for the day there is none: even a deletion needs room.
struct ReserveFile {
    let path: String
    /// In bytes: an eighth of the file system, and no more than was asked for.
    let size: Int

    init(path: String, limit: Int) {
        self.path = path
        size = ReserveFile.disk(of: path).map { Int(min(UInt64(max(0, limit)), $0.size / 8)) } ?? limit
    }

    /// The disk it is on; nil where that cannot be known.
    var disk: DiskSpace? { ReserveFile.disk(of: path) }

    private static func disk(of path: String) -> DiskSpace? {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        var found = statvfs()
        guard unsafe statvfs(directory, &found) == 0 else { return nil }
        let block = UInt64(found.f_frsize)
        return DiskSpace(size: UInt64(found.f_blocks) * block, available: UInt64(found.f_bavail) * block)
    }

    /// The space that must be left beside it, in bytes: an acceptance needs room as well.
    var margin: Int { size / 8 }

    /// Whether all of it is there.
    var isHeld: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_size >= off_t(size)
            && status.st_blocks * 512 >= size
    }

    /// Takes the space if it is there, and something beside it.
    ///
    /// - Returns: whether it is held.
    func take() -> Bool {
        guard size > 0 else { return true }
        guard isHeld || disk?.available ?? .max >= UInt64(size + margin) else {
            release()
            return false
        }
        let descriptor = openFile(path, O_WRONLY | O_CREAT)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // One of an earlier run may be larger.
        if posix_fallocate(descriptor, 0, off_t(size)) == 0, ftruncate(descriptor, off_t(size)) == 0 {
            return true
        }
        release()
        return false
    }

    func release() { removeFile(path) }
}
