import Glibc
import Synchronization

/// Looks up names on a few threads of its own, remembers the answers for a while and asks once for many
/// waiters.
///
/// A look-up blocks its thread for as long as a dead name server keeps it waiting. So no zone gets more than a few of
/// the threads, nor do all the names together that were slow the last time: a name that can be answered finds one.
///
/// Threads start when they are needed; a few stay. Numeric addresses never get here: read them with `IPAddress`.
package final class NameResolver: Sendable {
    /// A source of answers that may block; the system's unless a test brings its own.
    package typealias Source = @Sendable (String) -> Result<[IPAddress], NameError>

    let limits: Limits
    private let source: Source
    private let clock: @Sendable () -> Int64
    private let state = Mutex(State())
    private let pending = Semaphore()

    package init(
        limits: Limits = Limits(),
        clock: @escaping @Sendable () -> Int64 = SystemClock.monotonic,
        source: @escaping Source = systemAddresses
    ) {
        self.limits = limits
        self.clock = clock
        self.source = source
    }

    /// Calls `receiver` once, from any thread, unless the answer is at hand and returned.
    ///
    /// A receiver cannot be withdrawn: one that has lost interest ignores the call.
    package func lookUp(
        _ host: String,
        _ receiver: @escaping @Sendable (Result<[IPAddress], NameError>) -> Void
    ) -> Result<[IPAddress], NameError>? {
        let now = clock()
        let (answer, needsThread) = state.withLock { state -> (Result<[IPAddress], NameError>?, Bool) in
            if let answer = state.answer(for: host, now) { return (answer, false) }
            guard state.waiterCount < limits.waiters else { return (.failure(.overloaded), false) }
            if state.waiting[host] != nil {
                state.waiterCount += 1
                state.waiting[host]?.append(receiver)
                return (nil, false)
            }
            guard state.queue.count < limits.queue else { return (.failure(.overloaded), false) }
            state.waiterCount += 1
            state.waiting[host] = [receiver]
            state.queue.append(NameRequest(host, wasSlow: state.wasSlow(host)))
            return (nil, state.startsThread(limits))
        }
        if let answer { return answer }
        if needsThread { startWorker() }
        pending.signal()
        return nil
    }

    /// Addresses of `host` that were right a while ago, for who cannot wait longer for a new answer.
    package func outdated(_ host: String) -> [IPAddress]? {
        let now = clock()
        return state.withLock { $0.good(host, now) }
    }
}

extension NameResolver {
    /// How much the resolver holds and does.
    package struct Limits: Sendable {
        /// Look-ups at once.
        package var threads = 32
        /// Threads that stay when there is nothing to do.
        package var keptThreads = 4
        /// Look-ups at once within one zone.
        package var zoneThreads = 4
        /// Look-ups at once of names that were slow the last time.
        package var slowThreads = 16
        /// How long a look-up takes that is slow.
        package var slow: Duration = .seconds(1)
        /// Names waiting for a thread.
        package var queue = 1_024
        /// Calls waiting for an answer, over all names.
        package var waiters = 65_536
        /// Names remembered.
        package var names = 4_096
        /// How long addresses are remembered.
        package var positive: Duration = .seconds(30)
        /// How long a failure is remembered.
        package var negative: Duration = .seconds(1)
        /// How long addresses stand in for a look-up that fails or is slow.
        package var outdated: Duration = .seconds(3_600)

        package init() {}
    }

    private func startWorker() {
        do throws(PosixError) {
            try startDetachedThread("names", stackSize: 512 << 10) { [self] in work() }
        } catch {
            let stranded = state.withLock { $0.threadFailed() }
            for turn in stranded { settle(turn, .failure(.failed(error.description)), took: 0) }
        }
    }

    private func work() {
        while true {
            while let turn = state.withLock({ $0.take(limits) }) {
                wakeAnother()
                let began = clock()
                settle(turn, source(turn.host), took: clock() &- began)
            }
            guard state.withLock({ $0.keepsThread(limits) }) else { return }
            pending.wait()
            state.withLock { $0.idleThreads -= 1 }
        }
    }

    /// A look-up that this thread did not take may be for another.
    private func wakeAnother() {
        let (isIdle, isNew) = state.withLock { $0.another(limits) }
        if isIdle { pending.signal() }
        if isNew { startWorker() }
    }

    private func settle(_ turn: NameRequest, _ answer: Result<[IPAddress], NameError>, took: Int64) {
        let now = clock()
        let (told, receivers) = state.withLock { state in
            state.settle(turn, answer, isSlow: took >= limits.slow.wholeNanoseconds, limits, now)
        }
        for receiver in receivers { receiver(told) }
    }
}

/// Why a name has no addresses.
package enum NameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name does not exist, or has no address.
    case notFound
    /// The name servers did not say (EAI_AGAIN): another try may.
    case temporary(String)
    /// The resolver cannot work: its configuration, the network, memory.
    case failed(String)
    /// Too many names wait already.
    case overloaded

    package var description: String {
        switch self {
        case .notFound: "the name does not exist"
        case .temporary(let text), .failed(let text): text
        case .overloaded: "too many names are being looked up"
        }
    }
}
