import Glibc
import Synchronization

/// The names of users, looked up on a thread of its own and remembered for a while.
///
/// A directory server keeps a look-up for as long as it likes: nobody waits for one but by a receiver, and while one
/// hangs the others wait behind it, up to a bound.
package final class UserNames: Sendable {
    /// A source of names that may block; the system's unless a test brings its own.
    package typealias Source = @Sendable (UInt32) -> String?
    package typealias Receiver = @Sendable (String?) -> Void

    /// How much it holds.
    package struct Limits: Sendable {
        /// Users remembered.
        package var users = 1_024
        /// Calls that wait for an answer.
        package var waiters = 256
        /// Nanoseconds for which an answer is remembered.
        package var fresh: Int64 = 600_000_000_000

        package init() {}
    }

    package enum Answer: Hashable, Sendable {
        /// Nil of a user without a name.
        case known(String?)
        /// The receiver is called once, from another thread.
        case asked
        /// Too many wait already.
        case refused
    }

    fileprivate struct State {
        var names: [UInt32: (name: String?, at: Int64)] = [:]
        /// The users of `names`, the one asked for first at the front.
        var order: [UInt32] = []
        var waiting: [UInt32: [Receiver]] = [:]
        var waiterCount = 0
        var queue: [UInt32] = []
        var isWorking = false
    }

    private let limits: Limits
    private let source: Source
    private let clock: @Sendable () -> Int64
    private let state = Mutex(State())

    package init(
        limits: Limits = Limits(),
        clock: @escaping @Sendable () -> Int64 = SystemClock.monotonic,
        source: @escaping Source = systemUserName
    ) {
        self.limits = limits
        self.clock = clock
        self.source = source
    }

    /// The name, where it is at hand; else it is asked for.
    package func lookUp(_ user: UInt32, _ receiver: @escaping Receiver) -> Answer {
        let now = clock()
        let (answer, needsThread) = state.withLock { state -> (Answer, Bool) in
            if let known = state.names[user], now &- known.at < limits.fresh {
                return (.known(known.name), false)
            }
            guard state.waiterCount < limits.waiters else { return (.refused, false) }
            state.waiterCount += 1
            state.waiting[user, default: []].append(receiver)
            if state.waiting[user]?.count == 1 { state.queue.append(user) }
            defer { state.isWorking = true }
            return (.asked, !state.isWorking)
        }
        if needsThread { startWorker() }
        return answer
    }

    private func startWorker() {
        do throws(PosixError) {
            try startDetachedThread("users") { [self] in work() }
        } catch {
            let stranded = state.withLock { state in
                let stranded = state.waiting.values.flatMap(\.self)
                (state.waiting, state.queue, state.waiterCount, state.isWorking) = ([:], [], 0, false)
                return stranded
            }
            for receiver in stranded { receiver(nil) }
        }
    }

    private func work() {
        while let user = state.withLock({ $0.next() }) {
            let name = source(user)
            let now = clock()
            let receivers = state.withLock { $0.settle(user, name, limits, now) }
            for receiver in receivers { receiver(name) }
        }
    }
}

extension UserNames.State {
    /// Nil ends the thread.
    fileprivate mutating func next() -> UInt32? {
        guard !queue.isEmpty else {
            isWorking = false
            return nil
        }
        return queue.removeFirst()
    }

    fileprivate mutating func settle(
        _ user: UInt32,
        _ name: String?,
        _ limits: UserNames.Limits,
        _ now: Int64
    ) -> [UserNames.Receiver] {
        if names.updateValue((name, now), forKey: user) == nil { order.append(user) }
        while order.count > limits.users { names[order.removeFirst()] = nil }
        let receivers = waiting.removeValue(forKey: user) ?? []
        waiterCount -= receivers.count
        return receivers
    }
}

/// The name of a user in the system's databases; nil where it has none, or one that no line of text could hold.
package func systemUserName(_ user: UInt32) -> String? {
    var size = 1_024
    while size <= 1 << 20 {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: size)
        let code = unsafe getpwuid_r(user, &entry, &buffer, size, &found)
        if code == ERANGE {
            size *= 4
            continue
        }
        guard code == 0, let found = unsafe found, let text = unsafe found.pointee.pw_name else { return nil }
        let name = unsafe String(cString: text)
        let isPlain = (1...256).contains(name.utf8.count) && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        return isPlain ? name : nil
    }
    return nil
}
