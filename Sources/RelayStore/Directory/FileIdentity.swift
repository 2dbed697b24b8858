import Glibc
import RelayPosix

/// Which file stands at a path: it may be removed, or another put in its place, while who opened it goes on in the first.
struct FileIdentity {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// The file that is there now.
    init(_ path: String) throws(PosixError) {
        var status = stat()
        try checked("stat", unsafe lstat(path, &status), path)
        self.path = path
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Whether it still is.
    var isThere: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_ino == inode && status.st_dev == device
    }
}
