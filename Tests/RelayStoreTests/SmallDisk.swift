import Glibc
import RelayTestSupport

/// A file system of a few megabytes; needs root.
final class SmallDisk {
    let scratch = TemporaryFolder()
    let isMounted: Bool
    private var filler: String { path + "/filler" }
    var path: String { scratch.path }

    init(megabytes: Int) {
        isMounted = unsafe mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(megabytes)m,mode=0700") == 0
    }

    deinit {
        if isMounted { unsafe _ = umount2(scratch.path, 2) }
    }

    /// Bytes that are left.
    var available: Int {
        var found = statvfs()
        guard unsafe statvfs(path, &found) == 0 else { return 0 }
        return Int(found.f_bavail) * Int(found.f_frsize)
    }

    /// Somebody else takes all but so many bytes.
    func fill(leaving rest: Int = 0) {
        let descriptor = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return }
        let size = max(0, Int(status.st_size) + available - rest)
        _ = ftruncate(descriptor, off_t(size))
        if size > 0 { _ = posix_fallocate(descriptor, 0, off_t(size)) }
    }

    /// And gives it back.
    func clear() { unsafe _ = unlink(filler) }
}
