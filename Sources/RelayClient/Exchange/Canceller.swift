import Glibc
import Synchronization

/// Ends an exchange from another thread by hanging up.
final class Canceller: Sendable {
    /// Why an exchange ends early.
    enum Reason {
        case cancelled
        case shutDown
    }

    private enum State {
        case idle
        case connected(Int32)
        case over(Reason)
    }

    private let state = Mutex(State.idle)

    /// Why the exchange is to end; nil while it may go on.
    var reason: Reason? {
        state.withLock { if case .over(let reason) = $0 { reason } else { nil } }
    }

    /// Takes note of the exchange's socket; false when it was cancelled before.
    func adopt(_ descriptor: Int32) -> Bool {
        state.withLock { state in
            if case .over = state { return false }
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

    func cancel(_ reason: Reason) {
        state.withLock { state in
            if case .over = state { return }
            // Under the lock, so that the number cannot belong to another socket by now.
            if case .connected(let descriptor) = state { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            state = .over(reason)
        }
    }
}

extension RelayClientError {
    /// The error of an exchange that ended early, after it had begun to be sent.
    static func hungUp(_ reason: Canceller.Reason) -> RelayClientError {
        switch reason {
        case .cancelled:
            RelayClientError(.cancelled, "the request was cancelled; the relay was told by hanging up")
        case .shutDown:
            RelayClientError(.shutDown, "the client was shut down; the relay was told by hanging up")
        }
    }

    /// The error of an exchange that ended before anything of it was sent.
    static func neverSent(_ reason: Canceller.Reason) -> RelayClientError {
        switch reason {
        case .cancelled:
            RelayClientError(.cancelled, "the request was cancelled before it was sent", sent: .neverSent)
        case .shutDown:
            RelayClientError(.shutDown, "the client is shut down; nothing was sent", sent: .neverSent)
        }
    }
}
