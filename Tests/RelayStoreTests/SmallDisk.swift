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
        // Where a store takes some of it at the same moment nothing is taken, and it is tried again.
        for _ in 0..<1_000 {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { return }
            let size = max(0, Int(status.st_blocks) * 512 + available - rest)
            _ = ftruncate(descriptor, off_t(size))
            if size == 0 || posix_fallocate(descriptor, 0, off_t(size)) == 0 { return }
        }
    }

    /// And gives it back.
    func clear() { unsafe _ = unlink(filler) }
}
