import Synchronization

/// One caller's wait for a thread and then for what the thread does.
final class PendingExchange<Value: Sendable>: Sendable {
    private typealias Continuation = CheckedContinuation<Result<Value, RelayClientError>, Never>

    private enum State {
        /// Nobody waits yet.
        case new
        /// No thread has begun.
        case waiting(Continuation)
        /// A thread is at it.
        case running(Continuation)
        /// The caller has its result, or gets this error as soon as it waits.
        case over(RelayClientError?)
    }

    private let state = Mutex(State.new)

    /// Takes the caller's continuation; false when all ended before, of which the caller is told.
    func wait(_ continuation: CheckedContinuation<Result<Value, RelayClientError>, Never>) -> Bool {
        let error: RelayClientError? = state.withLock { state in
            if case .over(let error) = state { return error ?? .neverSent(.cancelled) }
            state = .waiting(continuation)
            return nil
        }
        if let error { continuation.resume(returning: .failure(error)) }
        return error == nil
    }

    /// A thread begins; false when there is nobody to do it for.
    func begin() -> Bool {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .running(continuation)
            return true
        }
    }

    func end(_ result: Result<Value, RelayClientError>) {
        let continuation: Continuation? = state.withLock { state in
            guard case .running(let continuation) = state else { return nil }
            state = .over(nil)
            return continuation
        }
        continuation?.resume(returning: result)
    }

    /// Sends the caller away unless a thread is at it, which then ends early.
    func cancel(_ error: RelayClientError) {
        let continuation: Continuation? = state.withLock { state in
            switch state {
            case .new:
                state = .over(error)
                return nil
            case .waiting(let continuation):
                state = .over(nil)
                return continuation
            case .running, .over: return nil
            }
        }
        continuation?.resume(returning: .failure(error))
    }
}
