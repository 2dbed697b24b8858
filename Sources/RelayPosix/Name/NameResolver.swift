import Glibc
import Synchronization

/// Looks up names on a few threads of its own, remembers the answers for a while and asks once for many
/// waiters.
///
/// Threads start when they are needed and stay. Numeric addresses never get here: read them with `IPAddress`.
package final class NameResolver: Sendable {
    /// A source of answers that may block; the system's unless a test brings its own.
    package typealias Source = @Sendable (String) -> Result<[IPAddress], NameError>

    private let limits: Limits
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
            if let entry = state.known[host], entry.expiry > now { return (entry.answer, false) }
            if state.waiting[host] != nil {
                guard state.waiterCount < limits.waiters else { return (.failure(.overloaded), false) }
                state.waiterCount += 1
                state.waiting[host]?.append(receiver)
                return (nil, false)
            }
            guard state.queue.count < limits.queue, state.waiterCount < limits.waiters else {
                return (.failure(.overloaded), false)
            }
            state.waiterCount += 1
            state.waiting[host] = [receiver]
            state.queue.append(host)
            let needsThread = state.idleThreads < state.queue.count && state.threads < limits.threads
            if needsThread { state.threads += 1 }
            return (nil, needsThread)
        }
        if let answer { return answer }
        if needsThread { startWorker() }
        pending.signal()
        return nil
    }

    /// The addresses of `host`; the task resumes on its own executor.
    ///
    /// - Throws: `cancelled` once the task is cancelled; the look-up goes on and its answer is remembered.
    package func addresses(of host: String) async throws(NameError) -> [IPAddress] {
        let wait = NameWait()
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard wait.begin(continuation) else { return }
                if let answer = lookUp(host, wait.finish) { wait.finish(answer) }
            }
        } onCancel: {
            wait.finish(.failure(.cancelled))
        }
        return try answer.get()
    }
}

extension NameResolver {
    /// How much the resolver holds and does.
    package struct Limits: Sendable {
        package var threads = 4
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

        package init() {}
    }

    private struct Entry {
        var answer: Result<[IPAddress], NameError>
        var expiry: Int64
    }

    private struct State {
        var known: [String: Entry] = [:]
        var waiting: [String: [@Sendable (Result<[IPAddress], NameError>) -> Void]] = [:]
        var waiterCount = 0
        var queue: [String] = []
        var threads = 0
        var idleThreads = 0

        mutating func remember(_ host: String, _ entry: Entry, limit: Int, now: Int64) {
            if known.count >= limit {
                known = known.filter { $0.value.expiry > now }
                if known.count >= limit { known.removeAll(keepingCapacity: true) }
            }
            known[host] = entry
        }
    }

    private func startWorker() {
        do throws(PosixError) {
            try startDetachedThread("names", stackSize: 512 << 10) { [self] in work() }
        } catch {
            let stranded = state.withLock { state in
                state.threads -= 1
                // Another thread will come to the queue; without one nobody would.
                guard state.threads == 0 else { return [String]() }
                defer { state.queue = [] }
                return state.queue
            }
            for host in stranded { settle(host, .failure(.failed(error.description))) }
        }
    }

    private func work() {
        while true {
            state.withLock { $0.idleThreads += 1 }
            pending.wait()
            let host = state.withLock { state in
                state.idleThreads -= 1
                return state.queue.isEmpty ? nil : state.queue.removeFirst()
            }
            if let host { settle(host, source(host)) }
        }
    }

    private func settle(_ host: String, _ answer: Result<[IPAddress], NameError>) {
        let now = clock()
        let isGood = if case .success = answer { true } else { false }
        let (seconds, attoseconds) = (isGood ? limits.positive : limits.negative).components
        let lifetime = seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
        let receivers = state.withLock { state in
            state.remember(
                host,
                Entry(answer: answer, expiry: now &+ lifetime),
                limit: limits.names,
                now: now
            )
            let receivers = state.waiting.removeValue(forKey: host) ?? []
            state.waiterCount -= receivers.count
            return receivers
        }
        for receiver in receivers { receiver(answer) }
    }
}

/// One task's wait for an answer: ended once, by the answer or by cancellation.
private final class NameWait: Sendable {
    private enum State {
        case starting
        case waiting(CheckedContinuation<Result<[IPAddress], NameError>, Never>)
        case over
    }

    private let state = Mutex(State.starting)

    /// - Returns: whether there is still something to wait for.
    func begin(_ continuation: CheckedContinuation<Result<[IPAddress], NameError>, Never>) -> Bool {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .waiting(continuation)
            return false
        }
        if isOver { continuation.resume(returning: .failure(.cancelled)) }
        return !isOver
    }

    func finish(_ answer: Result<[IPAddress], NameError>) {
        let continuation = state.withLock {
            state -> CheckedContinuation<Result<[IPAddress], NameError>, Never>? in
            defer { state = .over }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: answer)
    }
}
