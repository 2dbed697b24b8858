import RelayBase
import RelayPosix
import Synchronization

/// The calls that wait for the writer: all that come while a commit runs go into the next.
final class CommitQueue: Sendable {
    /// One call of the store's.
    struct Task: Sendable {
        var kind: Kind
        /// Jobs, roughly.
        var weight: Int
        /// Returns what is to be told once the transaction is on disk.
        var run: @Sendable (StoreWriter) throws(StoreError) -> @Sendable () -> Void
        var fail: @Sendable (StoreError) -> Void
    }

    enum Kind: Sendable {
        case accept
        /// Goes before what came with it: whoever waits is claimed first, and a job that is accepted may then be born
        /// running.
        case claim
        /// The changes that time makes; the caller that asks for them hears what they were.
        case sweep
        case other
    }

    private struct State {
        var tasks: [Task] = []
        var isWaiting = false
        var isClosing = false
        var failure: StoreError?
    }

    /// A transaction takes tasks until their weights reach this.
    private static let batchWeight = 1_024

    private let state = Mutex(State())
    private let pending = Semaphore()

    func submit(_ task: Task) {
        let (failure, wakes) = state.withLock { state -> (StoreError?, Bool) in
            if let failure = state.failure { return (failure, false) }
            if state.isClosing { return (.closed, false) }
            state.tasks.append(task)
            defer { state.isWaiting = false }
            return (nil, state.isWaiting)
        }
        if let failure { return task.fail(failure) }
        if wakes { pending.signal() }
    }

    /// The next tasks; blocks for them when `waits`.
    ///
    /// - Returns: nil when there will be none.
    func take(waits: Bool) -> [Task]? {
        while true {
            let taken = state.withLock { state -> [Task]? in
                if state.tasks.isEmpty {
                    state.isWaiting = waits && !state.isClosing
                    return nil
                }
                var weight = 0
                var count = 0
                while count < state.tasks.count, weight < Self.batchWeight {
                    weight += state.tasks[count].weight
                    count += 1
                }
                defer { state.tasks.removeFirst(count) }
                let batch = state.tasks[..<count]
                let claims = batch.filter { $0.kind == .claim }
                return claims.isEmpty ? Array(batch) : claims + batch.filter { $0.kind != .claim }
            }
            if let taken { return taken }
            if state.withLock({ $0.isClosing && $0.tasks.isEmpty }) { return nil }
            if !waits { return [] }
            pending.wait()
        }
    }

    func close() {
        let wakes = state.withLock { state in
            state.isClosing = true
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wakes { pending.signal() }
    }

    /// Every task from now on fails, and those that wait.
    func fail(_ error: StoreError) {
        let waiting = state.withLock { state in
            state.failure = state.failure ?? error
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in waiting { task.fail(error) }
        close()
    }
}
