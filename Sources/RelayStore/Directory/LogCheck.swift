import Glibc
import RelayPosix

/// Looks into a write-ahead log for damage that SQLite would take for its end.
///
/// SQLite reads a log up to the first frame whose checksum is wrong: that is how an interrupted write looks. But a
/// transaction is begun only after the one before is on disk, so a wrong frame with two later commits behind it is
/// no interrupted write, and to go on would be to lose what was acknowledged.
///
/// Damage within the last transaction cannot be told from an interrupted write: a cut while it was written leaves any
/// of its sectors out, its last one not among them or just so, and that its sync had returned stands nowhere. To write
/// that down would take a second sync behind every commit. A log is never written on behind an interrupted write
/// either, whose remains would look like later commits: every start cuts them off, and begins the log anew where there
/// is room to.
/// The format is that of https://www.sqlite.org/fileformat2.html#walformat.
enum LogCheck {
    enum Verdict: Equatable {
        /// Acknowledged transactions stand behind damage.
        case damaged
        /// The part that SQLite reads ends with this byte; the bytes behind it were never acknowledged.
        case sound(end: Int)
        /// There is no log, or none that SQLite reads.
        case empty
    }

    /// Looks through a log; one that cannot be read is not known to be damaged.
    static func look(_ path: String) throws(PosixError) -> Verdict {
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return .empty }
            throw PosixError("open", .current, path: path)
        }
        defer { close(descriptor) }
        let file = ReadFile(descriptor: descriptor, path: path)
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > 32, let header = try file.bytes(32, at: 0) else { return .empty }
        let magic = uint32(header, 0)
        let isBig = magic & 1 == 1
        let pageSize = Int(uint32(header, 8))
        var sum = (first: UInt32(0), second: UInt32(0))
        add(header[0..<24], &sum, isBig: isBig)
        guard magic & 0xFFFF_FFFE == 0x377F_0682, (512...65_536).contains(pageSize),
            pageSize.nonzeroBitCount == 1, sum.first == uint32(header, 24)
        else { return try hasFrames(file, size: Int(size)) ? .damaged : .empty }
        guard sum.second == uint32(header, 28) else {
            return try hasFrames(file, size: Int(size), after: uint32(header, 16)) ? .damaged : .empty
        }

        let frameSize = 24 + pageSize
        var commitsBehind = 0
        var isWrong = false
        var place = 32
        var end = place
        while place + frameSize <= Int(size), let frame = try file.bytes(frameSize, at: place) {
            place += frameSize
            let hasSalt = uint32(frame, 8) == uint32(header, 16) && uint32(frame, 12) == uint32(header, 20)
            if !isWrong {
                var next = sum
                add(frame[0..<8], &next, isBig: isBig)
                add(frame[24...], &next, isBig: isBig)
                if hasSalt, next.first == uint32(frame, 16), next.second == uint32(frame, 20) {
                    sum = next
                    // The last frame of a transaction says how large the database is.
                    if uint32(frame, 4) != 0 { end = place }
                    continue
                }
                isWrong = true
            }
            if hasSalt, uint32(frame, 0) != 0, uint32(frame, 4) != 0 {
                commitsBehind += 1
                if commitsBehind == 2 { return .damaged }
            }
        }
        return .sound(end: end)
    }

    /// Cuts off what stands behind the last transaction: it is not to look like a later one, and another needs its room.
    static func trim(_ path: String) throws(PosixError) {
        guard case .sound(let end) = try look(path) else { return }
        let log = FileDescriptor(try checked("open", openFile(path, O_RDWR), path))
        guard lseek(log.raw, 0, SEEK_END) > end else { return }
        try checked("truncate", ftruncate(log.raw, off_t(end)), path)
        try checked("fsync", fsync(log.raw), path)
    }

    /// Whether anything stands behind a header that is wrong: a header is on disk before the first frame.
    ///
    /// Where only its end is missing and its `salt` is the one after the frames', the log was being begun anew, which
    /// SQLite does when all of it is in the database.
    private static func hasFrames(
        _ file: ReadFile,
        size: Int,
        after salt: UInt32? = nil
    ) throws(PosixError) -> Bool {
        guard size >= 32 + 24 + 512, let frame = try file.bytes(24, at: 32) else { return false }
        return frame.contains { $0 != 0 } && salt != uint32(frame, 8) &+ 1
    }

    private static func add(
        _ bytes: ArraySlice<UInt8>,
        _ sum: inout (first: UInt32, second: UInt32),
        isBig: Bool
    ) {
        unsafe bytes.withUnsafeBytes { bytes in
            for index in stride(from: 0, to: bytes.count, by: 8) {
                let left = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                let right = unsafe bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self)
                sum.first &+= (isBig ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ sum.second
                sum.second &+= (isBig ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ sum.first
            }
        }
    }

    private static func uint32(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
