import Glibc
import RelayPosix

/// Disk space kept for the day there is none: even a deletion needs room.
struct Ballast {
    let path: String
    /// In bytes: an eighth of the file system, and no more than was asked for.
    let size: Int

    init(path: String, limit: Int) {
        self.path = path
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        size = Ballast.space(directory).map { Int(min(UInt64(max(0, limit)), $0.all / 8)) } ?? limit
    }

    /// Bytes of the disk that may be written now, as far as that can be known.
    var available: UInt64 {
        Ballast.space(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))?.free ?? .max
    }

    private static func space(_ directory: String) -> (all: UInt64, free: UInt64)? {
        var found = statvfs()
        guard unsafe statvfs(directory, &found) == 0 else { return nil }
        let block = UInt64(found.f_frsize)
        return (UInt64(found.f_blocks) * block, UInt64(found.f_bavail) * block)
    }

    /// Takes the space if it is there.
    ///
    /// - Returns: whether it is held.
    func take() -> Bool {
        guard size > 0 else { return true }
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
