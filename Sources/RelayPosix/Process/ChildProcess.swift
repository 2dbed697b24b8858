package import CLinux
import Glibc

/// A program that this process has started and waits for.
package struct ChildProcess: Sendable {
    /// A descriptor of the program.
    package enum Descriptor {
        /// A copy of one of this process.
        case copy(Int32)
        /// A file, opened with flags of open(2); one that is made by it is for its user alone (0600).
        case file(String, Int32)
        /// Nothing to be read, and nobody who reads.
        case nothing
    }

    /// Of the process.
    package let id: pid_t

    /// Starts a program, with no variables but those that are named, and with the signals as a program usually has them.
    ///
    /// - Parameters:
    ///   - program: its path, or a name that is looked for in `PATH`.
    ///   - words: the program's name for itself, and its arguments.
    ///   - variables: of its environment, as `NAME=VALUE`.
    ///   - descriptors: those it has beside what it inherits, by number.
    /// - Throws: what kept it from being started.
    package init(
        _ program: String,
        _ words: [String],
        variables: [String],
        descriptors: [(Int32, Descriptor)]
    ) throws(PosixError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors {
            switch descriptor {
            case .copy(let own): unsafe posix_spawn_file_actions_adddup2(&actions, own, number)
            case .file(let path, let flags):
                unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
            case .nothing: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        // This process may block and ignore signals for its own sake.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var ignored = sigset_t()
        unsafe sigemptyset(&ignored)
        unsafe sigaddset(&ignored, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &ignored)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = CStrings(words)
        let environment = CStrings(variables)
        var id: pid_t = 0
        let result = unsafe posix_spawnp(
            &id,
            program,
            &actions,
            &attributes,
            arguments.pointers,
            environment.pointers
        )
        guard result == 0 else { throw PosixError("start", Errno(rawValue: result), path: program) }
        self.id = id
    }

    /// Its exit status, or that of a shell if a signal ended it; nil while it runs.
    package func status() throws(PosixError) -> Int32? {
        var status: Int32 = 0
        let found = unsafe waitpid(id, &status, WNOHANG)
        guard found >= 0 || errno == EINTR else { throw PosixError("wait for a process", .current) }
        guard found == id else { return nil }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Waits until it is over, and looks from time to time whether to go on.
    ///
    /// - Parameters:
    ///   - longest: the longest time between two looks, in milliseconds.
    ///   - goesOn: asked after each look; with false the process is killed.
    /// - Returns: its exit status, or that of a shell if a signal ended it.
    /// - Throws: what kept this process from waiting.
    package func wait(pause longest: Int32, while goesOn: () -> Bool) throws(PosixError) -> Int32 {
        var pause: Int32 = 1
        while true {
            if let status = try status() { return status }
            guard goesOn() else {
                kill()
                return 128 + SIGKILL
            }
            _ = poll(nil, 0, pause)
            pause = min(longest, pause * 2)
        }
    }

    /// Ends it at once, and waits for that.
    package func kill() {
        _ = Glibc.kill(id, SIGKILL)
        while waitpid(id, nil, 0) < 0, errno == EINTR {}
    }
}
