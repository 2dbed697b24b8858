import Glibc
import RelayBase
import RelayPosix

/// A refresh token, and of which configuration it is.
struct KeptToken: Sendable {
    var fingerprint: [UInt8]
    var token: [UInt8]
}

/// The file of kept refresh tokens: a line for each credential with its name, a fingerprint and the token, in hex.
struct TokenFile {
    private let directory: String
    private var path: String { directory + "/refresh-tokens" }

    /// Bytes of the whole file: some hundred tokens of the largest size there may be.
    private static let limit = 4 << 20

    init(_ directory: String) { self.directory = directory }

    /// Nothing where there is no file.
    func read() throws(StoreError) -> [String: KeptToken] {
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [:] }
            throw StoreError(
                .directory,
                "cannot read refresh tokens: \(PosixError("open", .current, path: path))"
            )
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Self.limit {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        var found: [String: KeptToken] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { hexadecimalBytes($0) }
            guard words.count == 3, let name = words[0], let fingerprint = words[1], let token = words[2],
                let credential = String(validating: name, as: UTF8.self)
            else { throw StoreError(.corrupt, "cannot read refresh tokens in \(path): the file is damaged") }
            found[credential] = KeptToken(fingerprint: fingerprint, token: token)
        }
        return found
    }

    /// Puts these in the place of all others; they are on disk when it returns.
    func write(_ tokens: [String: KeptToken]) throws(StoreError) {
        var text: [UInt8] = []
        for (name, kept) in tokens.sorted(by: { $0.key < $1.key }) {
            let words = [Array(name.utf8), kept.fingerprint, kept.token].map(hexadecimal)
            text += Array((words.joined(separator: " ") + "\n").utf8)
        }
        let new = path + ".new"
        do throws(PosixError) {
            removeFile(new)
            let file = FileDescriptor(try checked("open", openFile(new, O_WRONLY | O_CREAT | O_EXCL), new))
            let count = unsafe pwrite(file.raw, text, text.count, 0)
            try checked("write", count == text.count ? 0 : -1, new)
            try checked("fsync", fsync(file.raw), new)
            try checked("rename", unsafe rename(new, path), path)
            try StoreDirectory.sync(directory)
        } catch {
            removeFile(new)
            throw StoreError(.directory, "cannot keep a refresh token: \(error)")
        }
    }
}
