import RelayPosix
import Synchronization

/// The look at the endpoints that is under way, of which there is one at most.
final class EndpointCheck: Sendable {
    private enum State {
        case idle
        case beginning
        case running(Task<Void, Never>)
        case cancelled
    }

    private let state = Mutex(State.idle)

    /// - Returns: false where one is under way.
    func begin() -> Bool {
        state.withLock { state in
            guard case .idle = state else { return false }
            state = .beginning
            return true
        }
    }

    func runs(_ task: Task<Void, Never>) {
        state.withLock { state in
            switch state {
            case .beginning: state = .running(task)
            case .cancelled: task.cancel()
            case .idle, .running: break
            }
        }
    }

    func end() { state.withLock { $0 = .idle } }

    /// Nobody waits for what it sees any more.
    func cancel() {
        state.withLock { state in
            switch state {
            case .beginning: state = .cancelled
            case .running(let task): task.cancel()
            case .idle, .cancelled: break
            }
        }
    }
}
