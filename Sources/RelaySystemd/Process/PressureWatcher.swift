import CLinux
import Glibc
import RelayBase
package import RelayPosix

/// Hears from the kernel, or from whoever stands in for it, that memory is short (systemd.io/PRESSURE).
package final class PressureWatcher: Watcher {
    /// Why it cannot be watched, in a sentence.
    package struct Trouble: Error {
        package let message: String
    }

    /// Whether something has to be read away; a file of the kernel's only reports.
    private let isStream: Bool
    private let signalled: () -> Void

    private init(on loop: EventLoop, isStream: Bool, _ signalled: @escaping () -> Void) {
        self.isStream = isStream
        self.signalled = signalled
        super.init(loop: loop)
    }

    /// Watches what `$MEMORY_PRESSURE_WATCH` names, to be called on the loop; nil where it names nothing.
    package static func offered(
        on loop: EventLoop,
        _ signalled: @escaping () -> Void
    ) throws(Trouble) -> PressureWatcher? {
        guard let path = environment("MEMORY_PRESSURE_WATCH"), path != "/dev/null" else {
            return nil
        }
        func trouble(_ why: String) -> Trouble {
            Trouble(message: "memory pressure is not watched: \(path) (MEMORY_PRESSURE_WATCH): \(why)")
        }
        var words: [UInt8] = []
        if let text = environment("MEMORY_PRESSURE_WRITE") {
            guard let decoded = Base64.decode(text, isCanonical: false) else {
                throw trouble("what MEMORY_PRESSURE_WRITE says is not Base64")
            }
            words = decoded
        }
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { throw trouble(Errno.current.description) }
        let kind = facts.st_mode & S_IFMT
        guard kind == S_IFREG || kind == S_IFIFO || kind == S_IFSOCK else {
            throw trouble("it is neither a file nor a pipe nor a socket")
        }
        let watcher = PressureWatcher(on: loop, isStream: kind != S_IFREG, signalled)
        do throws(PosixError) {
            let descriptor: FileDescriptor
            if kind == S_IFSOCK {
                guard case .connected(let connected) = Socket.connect(to: .unix(path: path)) else {
                    throw PosixError("connect", .current)
                }
                descriptor = connected
            } else {
                // A pipe that is open for writing here as well has no end when the other side closes it.
                let raw = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                guard raw >= 0 else { throw PosixError("open", .current) }
                descriptor = FileDescriptor(raw)
            }
            // Into a pipe it would only come back here.
            if kind != S_IFIFO, !words.isEmpty {
                let raw = descriptor.raw
                let count = unsafe write(raw, words, words.count)
                guard count == words.count else { throw PosixError("write", .current) }
            }
            try loop.add(watcher, descriptor, kind == S_IFREG ? .urgent : .readable)
        } catch {
            throw trouble(error.description)
        }
        return watcher
    }

    package override func ready(_ events: Events) {
        var isOver = !isStream && events.contains(.error)
        if isStream {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var count = 0
            repeat { count = unsafe read(descriptor, &buffer, buffer.count) } while count > 0
            isOver = count == 0 || errno != EAGAIN && errno != EINTR
        }
        // The group of the unit is gone, or who reported is.
        if isOver { return removeSelf() }
        signalled()
    }
}
