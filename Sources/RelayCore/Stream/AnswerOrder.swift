import Synchronization

/// Which job of a stream may wait for room for its answer.
///
/// One at a time, so that a stream whose answers nobody takes keeps no more of what others wait for than a single
/// request would; and in the order in which the answers leave, so that no job waits for room that those behind it have.
package final class AnswerOrder: Sendable {
    private struct State {
        /// The job whose turn it is; in order of input it is always the first that has not left.
        var holder: Int?
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let order: JobOrder
    private let state: Mutex<State>

    package init(order: JobOrder) {
        self.order = order
        state = Mutex(State(holder: order == .input ? 0 : nil))
    }

    /// Takes the turn where nobody else has it.
    package func take(_ index: Int) -> Bool {
        state.withLock { state in
            if state.holder == nil { state.holder = index }
            return state.holder == index
        }
    }

    /// Waits for the turn.
    ///
    /// - Returns: false when the task was cancelled first.
    package func wait(_ index: Int) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.holder == nil || state.holder == index {
                        state.holder = index
                        return true
                    }
                    state.waiters[index] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: index) }?.resume(returning: false)
        }
    }

    /// The outcome of the job went out, or nobody is there to take it.
    package func left(_ index: Int) {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.holder == index else { return nil }
            state.holder = order == .input ? index + 1 : state.waiters.keys.min()
            return state.holder.flatMap { state.waiters.removeValue(forKey: $0) }
        }
        next?.resume(returning: true)
    }
}

/// The turn of one job.
package struct AnswerTicket: Sendable {
    private let order: AnswerOrder
    private let index: Int

    /// `index` is the job's place in the stream, from 0.
    package init(_ order: AnswerOrder, _ index: Int) {
        self.order = order
        self.index = index
    }

    func take() -> Bool { order.take(index) }
    func wait() async -> Bool { await order.wait(index) }
}
