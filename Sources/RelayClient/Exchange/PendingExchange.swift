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
        /// The caller has its result, or was cancelled before it waited.
        case over
    }

    private let state = Mutex(State.new)

    /// Takes the caller's continuation; false when the caller was cancelled before, and is told so.
    func wait(_ continuation: CheckedContinuation<Result<Value, RelayClientError>, Never>) -> Bool {
        let waits = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !waits { continuation.resume(returning: .failure(.neverSent)) }
        return waits
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
            state = .over
            return continuation
        }
        continuation?.resume(returning: result)
    }

    /// Sends the caller away unless a thread is at it, which then ends early.
    func cancel() {
        let continuation: Continuation? = state.withLock { state in
            switch state {
            case .new:
                state = .over
                return nil
            case .waiting(let continuation):
                state = .over
                return continuation
            case .running, .over: return nil
            }
        }
        continuation?.resume(returning: .failure(.neverSent))
    }
}

extension RelayClientError {
    static var neverSent: RelayClientError {
        RelayClientError(.cancelled, "the request was cancelled before it was sent")
    }
}
