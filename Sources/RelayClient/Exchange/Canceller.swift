import Glibc
import Synchronization

/// Ends an exchange from another thread by hanging up.
final class Canceller: Sendable {
    private enum State {
        case idle
        case connected(Int32)
        case cancelled
    }

    private let state = Mutex(State.idle)

    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Takes note of the exchange's socket; false when it was cancelled before.
    func adopt(_ descriptor: Int32) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .connected(descriptor)
            return true
        }
    }

    /// The socket is about to be closed.
    func release(_ descriptor: Int32) {
        state.withLock { state in
            if case .connected(descriptor) = state { state = .idle }
        }
    }

    func cancel() {
        state.withLock { state in
            // Under the lock, so that the number cannot belong to another socket by now.
            if case .connected(let descriptor) = state { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            state = .cancelled
        }
    }
}
