import Glibc
package import RelayBase
import RelayPosix

/// The directory of a daemon whose jobs are in a database: its lock, and who it is.
package final class NodeDirectory: Sendable {
    private let directory: StoreDirectory
    /// A text that no other daemon has: neither one that was given a copy of the directory, nor one that begins anew in an
    /// empty one.
    package let identity: String
    /// Jobs that a daemon has kept here before lie in it still.
    package let holdsJobs: Bool

    /// Takes the directory for this process alone, until it is let go; `machine` is the machine's id.
    ///
    /// - Throws: `locked`, `foreign`, `directory`, `full`.
    package init(_ path: String, machine: String) throws(StoreError) {
        directory = try StoreDirectory(path)
        var status = stat()
        holdsJobs = unsafe lstat(directory.database, &status) == 0
        let file = directory.path + "/node"
        do throws(PosixError) {
            if try Self.read(file) == nil { try Self.make(file, in: directory.path) }
            guard let (random, inode) = try Self.read(file) else {
                throw PosixError("read", Errno(rawValue: EIO), path: file)
            }
            identity = "\(random).\(inode).\(machine)"
        } catch { throw StoreError.directory(error) }
    }

    /// The random text, and the number of the file, which a copy of it has not; nil where there is none.
    private static func read(_ path: String) throws(PosixError) -> (random: String, inode: UInt64)? {
        let raw = openFile(path, O_RDONLY)
        if raw < 0, errno == ENOENT { return nil }
        let file = FileDescriptor(try checked("open", raw, path))
        var status = stat()
        try checked("stat", unsafe fstat(file.raw, &status), path)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(file.raw, &buffer, buffer.count, 0)
        // One that is cut short or was written by somebody else is made anew: this node then waits for its lease.
        guard let bytes = hexadecimalBytes(buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }),
            bytes.count == 16
        else { return nil }
        return (hexadecimal(bytes), UInt64(status.st_ino))
    }

    private static func make(_ path: String, in directory: String) throws(PosixError) {
        let new = path + ".new"
        removeFile(new)
        var random = SystemRandomNumberGenerator()
        let text = hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }) + "\n"
        let bytes = Array(text.utf8)
        let file = FileDescriptor(try checked("open", openFile(new, O_WRONLY | O_CREAT | O_EXCL), new))
        let count = unsafe pwrite(file.raw, bytes, bytes.count, 0)
        try checked("write", count == bytes.count ? 0 : -1, new)
        try checked("fsync", fsync(file.raw), new)
        try checked("rename", unsafe rename(new, path), path)
        try StoreDirectory.sync(directory)
    }
}
