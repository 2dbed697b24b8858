import Glibc

/// A folder of its own, removed with everything in it.
///
/// It is in memory where the machine has such a place: what disks do is asked by the campaigns, and one that is busy
/// makes no test late.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        let parent = unsafe access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/waystation-test-XXXXXX".utf8CString)
        path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { return "" }
            return unsafe String(cString: made)
        }
        precondition(!path.isEmpty, "cannot make a folder below \(parent)")
    }

    deinit { Self.remove(path) }

    private static func remove(_ folder: String) {
        for name in names(folder) {
            let path = "\(folder)/\(name)"
            if unsafe unlink(path) != 0 { remove(path) }
        }
        unsafe _ = rmdir(folder)
    }

    /// The names in a folder, in order.
    package static func names(_ folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
