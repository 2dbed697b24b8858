import Glibc
import RelayPosix
import Synchronization

/// A directory of the demo's own, for its user alone.
final class TemporaryDirectory: Sendable {
    let path: String
    private let isRemoved = Mutex(false)

    init() throws(CommandFailure) {
        // A socket's path has 107 bytes at most.
        let parent = environment("TMPDIR").flatMap { $0.utf8.count < 60 ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/waystation-demo.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandFailure(.failed, "cannot make a directory in \(parent): \(errorText())")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a file only its user can read.
    func write(_ text: String, to file: String) throws(CommandFailure) {
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "cannot write \(file): \(errorText())") }
        defer { close(descriptor) }
        guard writeAll(Array(text.utf8), to: descriptor) else {
            throw CommandFailure(.failed, "cannot write \(file): \(errorText())")
        }
    }

    /// Takes the directory away with the files in it; it has no directories.
    func remove() {
        guard
            isRemoved.withLock({ isRemoved in
                defer { isRemoved = true }
                return !isRemoved
            })
        else { return }
        guard let directory = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { unsafe unlink("\(path)/\(name)") }
        }
        unsafe closedir(directory)
        unsafe rmdir(path)
    }
}
