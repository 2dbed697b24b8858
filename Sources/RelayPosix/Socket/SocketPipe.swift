import CLinux
import Glibc

/// A pipe by which the kernel moves bytes from one socket to another without a copy of them (splice(2)).
///
/// A connection that fills it empties it at once, so a loop needs one. Moving to a socket whose peer is gone raises
/// SIGPIPE, which a process with such a pipe ignores.
package final class SocketPipe {
    /// Bytes that are asked for at once; a socket of the kernel's usual size takes no more of them.
    package static let capacity = 262_144

    /// Whether the kernel moves nothing between such sockets, or may not be asked to.
    private(set) var isRefused = false
    private let input: FileDescriptor
    private let output: FileDescriptor
    /// Bytes in it.
    package private(set) var count = 0

    /// Nil where there is no descriptor for it to spare.
    package init?() {
        var ends: (Int32, Int32) = (-1, -1)
        let result = unsafe withUnsafeMutableBytes(of: &ends) { ends in
            unsafe relay_pipe(ends.assumingMemoryBound(to: Int32.self).baseAddress, Int32(Self.capacity))
        }
        guard result == 0 else { return nil }
        output = FileDescriptor(ends.0)
        input = FileDescriptor(ends.1)
        guard !DescriptorReserve.ofProcess.contains(max(ends.0, ends.1)) else { return nil }
    }

    /// Takes what a socket has received, at most so many bytes; a short count does not tell that there is no more.
    ///
    /// - Returns: nil where the kernel does not do that: it is to be read.
    package func fill(from socket: Int32, most: Int) -> Received? {
        while true {
            let moved = relay_splice(socket, input.raw, most)
            if moved > 0 {
                count += moved
                return .bytes(moved)
            }
            if moved == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case EINVAL, ENOSYS, EPERM:
                isRefused = true
                return nil
            default: return .failed(.current)
            }
        }
    }

    /// Sends what a socket takes of it now; what is left is to be read.
    package func send(to socket: Int32) {
        while count > 0 {
            let moved = relay_splice(output.raw, socket, count)
            if moved < 0, errno == EINTR { continue }
            if moved < 0, errno == EINVAL { isRefused = true }
            guard moved > 0 else { return }
            count -= moved
        }
    }

    /// Reads what is in it.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while count > 0 {
            let read = unsafe Glibc.read(output.raw, buffer.baseAddress, min(count, buffer.count))
            if read < 0, errno == EINTR { continue }
            precondition(read > 0, "a pipe gives what is in it")
            count -= read
            return read
        }
        return 0
    }
}
