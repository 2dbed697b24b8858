import Glibc

/// A pipe whose other end a process holds that must not outlive this one: when this one is gone, whatever ended it, the
/// kernel closes the pipe and sends the process SIGIO, which ends it.
struct Lifeline: ~Copyable {
    /// Where the process finds its end.
    static let descriptor: Int32 = 9

    let itsEnd: Int32
    private let ownEnd: Int32

    init() throws(CommandFailure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw CommandFailure(.failed, "cannot make a pipe: \(errorText())")
        }
        (itsEnd, ownEnd) = (ends[0], ends[1])
        // The process gets its end as another number.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(itsEnd)
        close(ownEnd)
    }

    func tie(_ process: pid_t) {
        _ = fcntl(itsEnd, F_SETOWN, process)
        _ = fcntl(itsEnd, F_SETFL, O_ASYNC)
    }
}
