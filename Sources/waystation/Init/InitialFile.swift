import Glibc
import RelayPosix

/// Where a first configuration is written.
struct InitialFile {
    let path: String
    /// Whether something stands there that is to be replaced.
    private let isThere: Bool
    private let isShipped: Bool

    /// - Throws: when something stands there that nobody said may be replaced, or nothing can be written there; before
    ///   anybody is asked anything.
    init(_ path: String, isForced: Bool) throws(CommandFailure) {
        self.path = path
        var facts = stat()
        isThere = unsafe lstat(path, &facts) == 0
        if isThere {
            guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
                throw CommandFailure(
                    .failed,
                    "\(safe(path)) is no regular file",
                    advice: "Name another: --output FILE"
                )
            }
            isShipped = try FileBytes.read(path: path) == Array(InitialConfiguration.shipped.text.utf8)
        } else {
            isShipped = false
        }
        guard !isThere || isShipped || isForced else { throw occupied }
        guard unsafe faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0 else { return }
        let reason = errno
        throw CommandFailure(
            reason == EACCES ? .notAllowed : .failed,
            "cannot write to \(safe(directory)): \(unsafe String(cString: strerror(reason)))",
            advice: (reason == ENOENT ? "Make the directory" : "Run it as root")
                + ", or name another file: --output FILE"
        )
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private var occupied: CommandFailure {
        CommandFailure(
            .failed,
            "\(safe(path)) is there already and is not the one that came with the installation",
            advice: "--force replaces it and keeps a backup; --output FILE writes another"
        )
    }

    /// Puts `text` in the file's place, all of it or nothing.
    ///
    /// - Returns: where what stood there is kept, if that was asked for.
    func write(_ text: String) throws(CommandFailure) -> String? {
        let temporary = try writeBeside(text)
        var isDone = false
        defer { if !isDone { unsafe _ = unlink(temporary) } }
        var backup: String?
        if isThere {
            if !isShipped { backup = try keep() }
            guard unsafe rename(temporary, path) == 0 else { throw failure("replace", path) }
        } else {
            // Unlike a rename it replaces nothing that came meanwhile.
            guard unsafe link(temporary, path) == 0 else {
                throw errno == EEXIST ? occupied : failure("write", path)
            }
            unsafe _ = unlink(temporary)
        }
        isDone = true
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            _ = fsync(folder)
            close(folder)
        }
        return backup
    }

    /// Everybody may read it, as deploy/install has it: it holds no secret.
    private func writeBeside(_ text: String) throws(CommandFailure) -> String {
        var template = Array((directory + "/.waystation.json.XXXXXX").utf8CString)
        let raw = unsafe mkstemp(&template)
        guard raw >= 0 else { throw failure("write to", directory) }
        let file = FileDescriptor(raw)
        let name = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard writeAll(Array(text.utf8), to: file.raw), fchmod(file.raw, 0o644) == 0, fsync(file.raw) == 0
        else {
            let failure = failure("write", name)
            unsafe _ = unlink(name)
            throw failure
        }
        return name
    }

    /// Gives what stands there a second name that nothing has yet.
    private func keep() throws(CommandFailure) -> String {
        for number in 1...1000 {
            let backup = path + (number == 1 ? ".old" : ".old-\(number)")
            if unsafe link(path, backup) == 0 { return backup }
            guard errno == EEXIST else { throw failure("keep a backup as", backup) }
        }
        throw CommandFailure(.failed, "there are too many backups: \(safe(path)).old and so on; remove some")
    }

    private func failure(_ what: String, _ path: String) -> CommandFailure {
        CommandFailure(.failed, "cannot \(what) \(safe(path)): \(errorText())")
    }
}
