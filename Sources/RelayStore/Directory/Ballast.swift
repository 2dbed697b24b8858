import Glibc
import RelayPosix

/// Disk space kept for the day there is none: even a deletion needs room.
struct Ballast {
    let path: String
    let size: Int

    /// Takes the space if it is there.
    ///
    /// - Returns: whether it is held.
    func take() -> Bool {
        guard size > 0 else { return true }
        let descriptor = openFile(path, O_WRONLY | O_CREAT)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        if posix_fallocate(descriptor, 0, off_t(size)) == 0 { return true }
        release()
        return false
    }

    func release() { removeFile(path) }
}
