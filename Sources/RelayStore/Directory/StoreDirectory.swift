import CLinux
import Glibc
import RelayBase
import RelayPosix

/// The directory of a store: who may use it, and the files in it.
final class StoreDirectory: Sendable {
    let path: String
    private let lock: Int32
    /// Whether a store has been made here before.
    let wasUsed: Bool

    var database: String { path + "/jobs.db" }
    var log: String { path + "/jobs.db-wal" }
    var bodies: String { path + "/bodies" }
    var ballast: String { path + "/ballast" }

    /// Takes the directory for this process alone, until it is let go.
    init(_ given: String) throws(StoreError) {
        let path = try Self.resolved(given)
        try Self.check(path)
        lock = try Self.takeLock(path)
        let found = Self.text(lock)
        wasUsed = found.contains(text: "made")
        self.path = path
        try mark(isMade: wasUsed, isSynced: wasUsed && found.utf8.count != Self.mark(isMade: true).utf8.count)
        if unsafe mkdir(bodies, 0o700) != 0, errno != EEXIST {
            throw StoreError.directory(PosixError("mkdir", .current, path: bodies))
        }
    }

    deinit {
        // A program that is just being started holds a copy until it runs.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Whether a run has met damage in the database's structure: the next start looks through all of it.
    var isSuspect: Bool {
        var status = stat()
        return unsafe lstat(path + "/suspect", &status) == 0
    }

    /// A run has met such damage in the store of that directory.
    static func suspect(_ path: String) {
        let descriptor = openFile(path + "/suspect", O_WRONLY | O_CREAT)
        if descriptor >= 0 { close(descriptor) }
    }

    func clearSuspicion() { removeFile(path + "/suspect") }

    private static func takeLock(_ path: String) throws(StoreError) -> Int32 {
        let descriptor = openFile(path + "/lock", O_RDWR | O_CREAT)
        guard descriptor >= 0 else {
            throw StoreError.directory(PosixError("open", .current, path: path + "/lock"))
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        close(descriptor)
        throw StoreError(
            .locked,
            "cannot open the job store \(path): " + (owner(path).map { "process \($0)" } ?? "another process")
                + " has it open; end that one first"
        )
    }

    /// Names the process that has the store, and says whether there is one.
    ///
    /// Which process it is needs no sync, since that means nothing after a power cut. The texts are of one length, so that
    /// none can take the end of the one before away.
    private static func mark(isMade: Bool) -> String {
        let process = "\(getpid())"
        let rest = String(repeating: " ", count: max(0, 10 - process.utf8.count))
        return process + rest + "\n" + (isMade ? "made\n" : "")
    }

    private func mark(isMade: Bool, isSynced: Bool) throws(StoreError) {
        do throws(PosixError) {
            try Self.write(lock, Self.mark(isMade: isMade), path + "/lock")
            if isSynced { try checked("fsync", fsync(lock), path + "/lock") }
        } catch { throw StoreError.directory(error) }
    }

    /// Remembers that there is a store here now: an empty database is from now on a damaged one.
    func markMade() throws(StoreError) {
        // The name of the file went to disk with that of the database.
        if !wasUsed { try mark(isMade: true, isSynced: true) }
    }

    /// Where symbolic links lead to: a service manager gives a service with a dynamic user one.
    private static func resolved(_ path: String) throws(StoreError) -> String {
        guard let found = unsafe realpath(path, nil) else {
            // The directory at its end may not be mounted yet.
            let error = PosixError("open", .current, path: path)
            throw StoreError(.directory, "cannot use the job store's directory: \(error)")
        }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    private static func check(_ path: String) throws(StoreError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            throw StoreError.directory(PosixError("stat", .current, path: path))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(.foreign, "cannot open the job store \(path): it is no directory")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw StoreError(
                .foreign,
                "cannot open the job store \(path): others may write in it; run chmod go-w \(path)"
            )
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            var lock = stat()
            if unsafe lstat(path + "/lock", &lock) != 0, errno == ENOENT {
                throw StoreError(
                    .directory,
                    "cannot open the job store \(path): the directory belongs to uid \(status.st_uid) and holds no store; "
                        + "mount what it is for, or run chown \(geteuid()) \(path)"
                )
            }
            throw StoreError(
                .foreign,
                "cannot open the job store \(path): it belongs to uid \(status.st_uid); run chown -R \(geteuid()) \(path)"
            )
        }
    }

    private static func owner(_ path: String) -> String? {
        let descriptor = openFile(path + "/lock", O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let first = text(descriptor).prefix { $0 != "\n" && $0 != " " }
        return first.isEmpty || !first.allSatisfy(\.isNumber) ? nil : String(first)
    }

    private static func text(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    private static func write(_ descriptor: Int32, _ text: String, _ path: String) throws(PosixError) {
        let bytes = Array(text.utf8)
        let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
        try checked("write", count == bytes.count ? 0 : -1, path)
        try checked("truncate", ftruncate(descriptor, off_t(bytes.count)), path)
    }

    /// Puts the directory's entries on disk.
    static func sync(_ path: String) throws(PosixError) {
        let directory = FileDescriptor(
            try checked("open", openFile(path, O_RDONLY | O_DIRECTORY), path)
        )
        try checked("fsync", fsync(directory.raw), path)
    }
}

extension StoreError {
    static func directory(_ error: PosixError) -> StoreError {
        let what = "cannot use the job store's directory: \(error)"
        switch error.errno.rawValue {
        case ENOSPC, EDQUOT, EFBIG: return StoreError(.full, what)
        // No try of this user's will do better.
        case EACCES, EPERM, ELOOP, EISDIR, ENOTDIR:
            return StoreError(.foreign, "\(what); it has to belong to uid \(geteuid()) and to be no link")
        default: return StoreError(.directory, what)
        }
    }
}
