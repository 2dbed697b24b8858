import Glibc
package import RelayBase
package import RelayJobs
package import RelayPosix
import Synchronization

/// Copies of request bodies in files without a name, in the directory `spool` of the state directory.
///
/// They are written and read on a thread of their own, which no other work waits for, and are gone with the process.
/// The last part of a disk is left to the job store: what is only a convenience must not make it refuse jobs.
package final class FileReplaySpool: ReplaySpool {
    fileprivate let thread: WorkerThread<SpoolDirectory>
    fileprivate let quota: Mutex<SpoolQuota>
    private let files = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - state: the state directory, which must exist.
    ///   - limit: bytes all copies may take together.
    ///   - reserve: descriptors that no copy takes.
    /// - Throws: `directory` when the directory cannot be made.
    package init(
        state: String,
        limit: UInt64,
        reserve: DescriptorReserve = .ofProcess
    ) throws(StoreError) {
        let directory = try SpoolDirectory(state + "/spool", reserve)
        thread = try WorkerThread("spool") { directory }
        quota = Mutex(SpoolQuota(limit: limit))
    }

    deinit { thread.close() }

    /// Bytes that copies take or have room for, and may take.
    package var usage: SpoolQuota { quota.withLock { $0 } }

    package func configure(limit: UInt64) { quota.withLock { $0.configured(limit: limit) } }

    package func copy(length: UInt64?) throws(StoreError) -> any ReplayCopy {
        let limit = usage.limit
        if let length, length > limit { throw FileReplaySpool.noSpace(limit) }
        // A caller that waits for the disk behind others would have no copy in time.
        guard thread.activity.duration(at: SystemClock.monotonic()) < FileReplaySpool.stall else {
            throw StoreError(.failed, "the disk of its copy does not move")
        }
        return FileCopy(self, files.add(1, ordering: .relaxed).newValue)
    }

    /// Nanoseconds that one operation lasts on a disk that does not move.
    private static let stall: Int64 = 1_000_000_000

    fileprivate static func noSpace(_ limit: UInt64) -> StoreError {
        StoreError(.full, "it does not fit into what is left of limits.spool (\(limit) bytes)")
    }
}

/// The directory of the copies, on the thread that uses it.
struct SpoolDirectory: Sendable {
    let path: String
    private let reserve: DescriptorReserve

    /// Makes it, and removes what a crash has left between the making of a file and the loss of its name.
    init(_ path: String, _ reserve: DescriptorReserve) throws(StoreError) {
        self.path = path
        self.reserve = reserve
        do throws(StoreError) {
            try make()
        } catch {
            // The first copy makes it, once there is room.
            guard error.code == .full else { throw error }
            return
        }
        guard let listing = unsafe opendir(path) else {
            throw StoreError.directory(PosixError("open", .current, path: path))
        }
        defer { unsafe closedir(listing) }
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasPrefix("s"), name.dropFirst().allSatisfy(\.isNumber) { removeFile(path + "/" + name) }
        }
    }

    private func make() throws(StoreError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw StoreError.directory(PosixError("mkdir", .current, path: path))
        }
    }

    /// A new file that has lost its name.
    func file(_ number: UInt64) throws(StoreError) -> Int32 {
        let name = "\(path)/s\(number)"
        var descriptor = openFile(name, O_RDWR | O_CREAT | O_EXCL)
        if descriptor < 0, errno == ENOENT {
            try make()
            descriptor = openFile(name, O_RDWR | O_CREAT | O_EXCL)
        }
        guard descriptor >= 0 else { throw StoreError.directory(PosixError("open", .current, path: name)) }
        removeFile(name)
        guard !reserve.contains(descriptor) else {
            close(descriptor)
            throw StoreError(.full, "too many files and connections are open for its copy to have a file")
        }
        return descriptor
    }

    /// - Throws: `full` when the disk would have less left than the job store may need.
    func checkDisk(_ descriptor: Int32, for count: Int) throws(StoreError) {
        var disk = statvfs()
        guard unsafe fstatvfs(descriptor, &disk) == 0 else {
            throw StoreError.directory(PosixError("statvfs", .current, path: path))
        }
        let (size, free) = (
            UInt64(disk.f_blocks) * UInt64(disk.f_frsize), UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
        )
        guard free >= UInt64(count) + min(64 << 20, size / 8) else {
            throw StoreError(.full, "the disk of \(path) is nearly full")
        }
    }
}

/// One copy; its file is opened when there is something to write.
private final class FileCopy: ReplayCopy {
    private struct State: Sendable {
        var descriptor: Int32 = -1
        var length: UInt64 = 0
        var taken: UInt64 = 0
    }

    private let spool: FileReplaySpool
    private let number: UInt64
    private let state = Mutex(State())

    init(_ spool: FileReplaySpool, _ number: UInt64) {
        self.spool = spool
        self.number = number
    }

    deinit {
        let state = state.withLock { $0 }
        spool.quota.withLock { $0.gaveBack(state.taken) }
        // The kernel gives a large file's blocks back while it is closed.
        if state.descriptor >= 0 { spool.thread.start { _ in close(state.descriptor) } }
    }

    /// Content that is only announced has no room yet: one caller could else hold all the room with a few heads.
    private func take(_ count: UInt64) throws(StoreError) {
        let limit: UInt64? = spool.quota.withLock { $0.take(count) ? nil : $0.limit }
        if let limit { throw FileReplaySpool.noSpace(limit) }
        state.withLock { $0.taken += count }
    }

    func append(_ piece: [UInt8]) async throws(StoreError) {
        try take(UInt64(piece.count))
        try await spool.thread.perform { [self] directory throws(StoreError) in
            try state.withLock { state throws(StoreError) in
                if state.descriptor < 0 { state.descriptor = try directory.file(number) }
                try directory.checkDisk(state.descriptor, for: piece.count)
                do throws(PosixError) {
                    try writeAll(piece, at: state.length, to: state.descriptor, directory.path)
                } catch { throw StoreError.directory(error) }
                state.length += UInt64(piece.count)
            }
        }
    }

    func read(at offset: UInt64, count: Int) async throws(StoreError) -> [UInt8] {
        try await spool.thread.perform { [self] directory throws(StoreError) in
            let descriptor = state.withLock { $0.descriptor }
            guard let bytes = readAll(count, at: offset, from: descriptor) else {
                throw StoreError(
                    .failed,
                    "cannot read a request body back: \(PosixError("read", .current, path: directory.path))"
                )
            }
            return bytes
        }
    }
}

/// How much of the disk the copies of request bodies may take.
package struct SpoolQuota: Sendable {
    package private(set) var limit: UInt64
    package private(set) var used: UInt64 = 0

    package init(limit: UInt64) { self.limit = limit }

    /// The limit is another; what is over it stays until it is given back.
    package mutating func configured(limit: UInt64) { self.limit = limit }

    /// Takes so many bytes.
    ///
    /// - Returns: false when there is not that much room; nothing is taken then.
    package mutating func take(_ count: UInt64) -> Bool {
        guard used <= limit, count <= limit - used else { return false }
        used += count
        return true
    }

    package mutating func gaveBack(_ count: UInt64) { used -= min(used, count) }
}
