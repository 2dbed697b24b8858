import Synchronization

/// One caller's wait for a thread and then for what the thread does.
final class PendingExchange<Value: Sendable>: Sendable {
    private typealias Continuation = CheckedContinuation<Result<Value, RelayClientError>, Never>

    private enum State {
        /// Nobody waits yet.
        case new
        /// No thread has begun; the closure is called when that changes.
        case waiting(Continuation, leaves: (@Sendable () -> Void)?)
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
            state = .waiting(continuation, leaves: nil)
            return nil
        }
        if let error { continuation.resume(returning: .failure(error)) }
        return error == nil
    }

    /// Calls `leaves` once the caller waits for a thread no more, which may be now.
    func onceNoMoreWaiting(_ leaves: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard case .waiting(let continuation, _) = state else { return false }
            state = .waiting(continuation, leaves: leaves)
            return true
        }
        if !waits { leaves() }
    }

    /// A thread begins; false when there is nobody to do it for.
    func begin() -> Bool {
        let (begins, leaves): (Bool, (@Sendable () -> Void)?) = state.withLock { state in
            guard case .waiting(let continuation, let leaves) = state else { return (false, nil) }
            state = .running(continuation)
            return (true, leaves)
        }
        leaves?()
        return begins
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
        let (continuation, leaves): (Continuation?, (@Sendable () -> Void)?) = state.withLock { state in
            switch state {
            case .new:
                state = .over(error)
                return (nil, nil)
            case .waiting(let continuation, let leaves):
                state = .over(nil)
                return (continuation, leaves)
            case .running, .over: return (nil, nil)
            }
        }
        leaves?()
        continuation?.resume(returning: .failure(error))
    }
}
