import Glibc
import RelayPosix
import RelaySystemd

/// Answers callers for a moment while the daemon cannot start.
///
/// A service manager that holds the sockets starts the daemon again for every caller that still waits, until it takes
/// the sockets for broken and closes them. So the callers are answered, and not more often than once in `timeout`
/// is there another start. Where nobody waits it ends at once. Once the fault is mended, or a stop comes, it takes no
/// caller any more, ends when those it took are answered, and the next one starts the daemon.
struct RefusedStart {
    private let listeners: [Int32]
    private let answer: [UInt8]
    private let isMended: () -> Bool
    private var callers: [Caller] = []

    /// Nanoseconds; well within TimeoutStartSec=.
    private static let timeout: Int64 = 5_000_000_000
    /// Nanoseconds for one caller to send its request and read the answer.
    private static let callerTimeout: Int64 = 2_000_000_000
    private static let maxCallers = 256
    private static let maxHead = 65_536

    private struct Caller {
        let descriptor: Int32
        let ends: Int64
        /// Bytes received before the answer.
        var received = 0
        /// How much of the blank line that ends a head has come.
        var matched = 0
        var isAnswered = false
    }

    /// - Parameters:
    ///   - sockets: listening; they stay open.
    ///   - answer: a whole HTTP response that ends its connection.
    ///   - isMended: whether another start may do better.
    init(_ sockets: [ActivatedSockets.Listener], answer: [UInt8], isMended: @escaping () -> Bool) {
        listeners = sockets.map(\.descriptor)
        self.answer = answer
        self.isMended = isMended
    }

    /// Blocks until nobody waits any more, but no longer than `timeout` and, for who came last, `callerTimeout`.
    mutating func serve() {
        // Callers that were taken off the queue are lost with the process, so a stop waits for them.
        SignalWatcher.block(FailedStart.signals)
        for listener in listeners { _ = Glibc.fcntl(listener, F_SETFL, O_NONBLOCK) }
        guard !ready(milliseconds: 0, of: listeners).isEmpty else { return }
        let deadline = SystemClock.monotonic() + Self.timeout
        while true {
            let isStopped = SignalWatcher.isPending(FailedStart.endings)
            let accepts = SystemClock.monotonic() < deadline && !isMended() && !isStopped
            guard accepts || !callers.isEmpty else { return }
            runOnce(accepts: accepts)
        }
    }

    private mutating func runOnce(accepts: Bool) {
        let ready = ready(milliseconds: 100, of: accepts ? listeners : [])
        for index in callers.indices where ready.contains(callers[index].descriptor) { read(&callers[index]) }
        let now = SystemClock.monotonic()
        for caller in callers where caller.ends <= now { close(caller.descriptor) }
        callers.removeAll { $0.ends <= now }
        // A caller that comes behind the mending is the next start's.
        guard accepts, listeners.contains(where: ready.contains), !isMended() else { return }
        for listener in listeners where ready.contains(listener) && callers.count < Self.maxCallers {
            guard case .connection(let descriptor) = Socket.accept(listener) else { continue }
            callers.append(Caller(descriptor: descriptor.release(), ends: now + Self.callerTimeout))
        }
    }

    /// The descriptors that have something to say.
    private func ready(milliseconds: Int32, of listeners: [Int32]) -> Set<Int32> {
        let watched = (callers.count < Self.maxCallers ? listeners : []) + callers.map(\.descriptor)
        var entries = watched.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }
        return Set(entries.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Reads a request, answers behind its head, and then waits for the caller to go: what it still sends is not
    /// to cost it the answer.
    private func read(_ caller: inout Caller) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let received = unsafe buffer.withUnsafeMutableBytes {
            unsafe Socket.receive(caller.descriptor, into: $0)
        }
        switch received {
        case .wouldBlock: return
        case .end, .failed: return end(&caller)
        case .bytes(let count):
            guard !caller.isAnswered else { return }
            for byte in buffer[..<count] { caller.matched = Self.matched(caller.matched, byte) }
            caller.received += count
        }
        guard caller.matched == 4 || caller.received > Self.maxHead else { return }
        caller.isAnswered = true
        guard case .bytes(answer.count) = Socket.send(caller.descriptor, answer.span) else {
            return end(&caller)
        }
        Socket.finishSending(caller.descriptor)
    }

    private func end(_ caller: inout Caller) { caller = Caller(descriptor: caller.descriptor, ends: 0) }

    private static func matched(_ count: Int, _ byte: UInt8) -> Int {
        guard count < 4 else { return 4 }
        let wanted = count % 2 == 0 ? UInt8(ascii: "\r") : UInt8(ascii: "\n")
        if byte == wanted { return count + 1 }
        return byte == UInt8(ascii: "\r") ? 1 : 0
    }
}
