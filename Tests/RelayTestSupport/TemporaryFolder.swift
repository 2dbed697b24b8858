import Glibc

/// A folder of its own, removed with everything in it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/waystation-test-XXXXXX".utf8CString)
        path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { return "" }
            return unsafe String(cString: made)
        }
        precondition(!path.isEmpty, "cannot make a folder below /tmp")
    }

    deinit {
        guard let folder = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { unsafe _ = unlink("\(path)/\(name)") }
        }
        unsafe closedir(folder)
        unsafe rmdir(path)
    }
}
