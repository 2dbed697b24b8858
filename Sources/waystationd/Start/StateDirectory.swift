import Glibc
import RelayPosix

/// The directory that is the daemon's own; who may use it, and that nobody else does, is the job store's to see to.
enum StateDirectory {
    /// Makes the directory where there is none.
    static func make(_ path: String) throws(StartError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw StartError(
                message: "cannot make the state directory \(path): \(Errno.current);"
                    + " set \"storage\": {\"directory\": …} to one of yours"
            )
        }
    }
}
