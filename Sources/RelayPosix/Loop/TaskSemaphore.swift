import Synchronization

/// A counting semaphore for tasks: a number of places, given in the order in which they are asked for.
package final class TaskSemaphore: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// With so many places.
    package init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Waits until a place is free, and takes it; a cancelled task waits as any other.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Gives a place back, to the task that has waited longest.
    package func signal() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
