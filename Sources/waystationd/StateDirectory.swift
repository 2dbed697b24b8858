import Glibc
import RelayPosix

/// The directory that is the daemon's own; one instance at a time.
enum StateDirectory {
    struct Refusal: Error {
        let message: String
    }

    /// Makes sure that the directory is there, is nobody else's to write, and is in use by no other instance, as long as the process lives.
    static func take(_ path: String) throws(Refusal) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw Refusal(
                message: "cannot make the state directory \(path): \(Errno.current);"
                    + " set \"storage\": {\"directory\": …} to one of yours"
            )
        }
        var facts = stat()
        guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
            throw Refusal(message: "the state directory \(path) is not a directory")
        }
        guard facts.st_mode & 0o002 == 0 else {
            throw Refusal(
                message: "the state directory \(path) may be written by everyone: chmod o-w \(path)"
            )
        }
        let raw = unsafe open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else {
            throw Refusal(message: "cannot write to the state directory \(path): \(Errno.current)")
        }
        let lock = FileDescriptor(raw)
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 else {
            throw Refusal(message: "another instance uses the state directory \(path)")
        }
        // Held until the process ends.
        _ = lock.release()
    }
}
