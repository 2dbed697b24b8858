import RelayPosix
import Synchronization

/// Runs exchanges on threads of their own, so many at once, the others in the order in which they came.
final class ExchangePool: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
        /// Where in `waiting` the next one stands.
        var first = 0

        /// Passes over the next one; what is done is let go when it is the greater part.
        mutating func advance() {
            first += 1
            guard first > 64, first > waiting.count / 2 else { return }
            waiting.removeFirst(first)
            first = 0
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Runs `work` on a thread as soon as there is a place; cancelling the task hangs up, and gives up the wait
    /// for a place at once.
    func run<Value: Sendable>(
        _ canceller: Canceller,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        let turn = PendingExchange<Value>()
        let result: Result<Value, RelayClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard turn.wait(continuation) else { return }
                submit {
                    guard turn.begin() else { return }
                    turn.end(Result(catching: work))
                }
            }
        } onCancel: {
            canceller.cancel()
            turn.cancel()
        }
        return try result.get()
    }

    private func submit(_ work: @escaping Work) {
        let starts = state.withLock { state in
            guard state.running < limit else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        guard starts else { return }
        do throws(PosixError) {
            try startDetachedThread("relay-client") { self.workOff(work) }
        } catch {
            // No thread to be had: the caller's own does it, which is slow but loses nothing.
            workOff(work)
        }
    }

    /// Does the work and then what has been waiting.
    private func workOff(_ first: @escaping Work) {
        var work: Work? = first
        while let current = work {
            current()
            work = state.withLock { state in
                guard state.first < state.waiting.count else {
                    state.running -= 1
                    state.waiting = []
                    state.first = 0
                    return nil
                }
                defer { state.advance() }
                return state.waiting[state.first]
            }
        }
    }
}
