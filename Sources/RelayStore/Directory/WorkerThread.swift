import RelayBase
import RelayPosix
import Synchronization

/// A thread that does what it is asked, one after the other, with something that belongs to it alone.
final class WorkerThread<Context>: Sendable {
    private typealias Work = @Sendable (Context?) -> Void

    private struct State {
        var queue: [Work] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let pending = Semaphore()
    private let over = Semaphore()
    let activity: Activity

    /// Makes the context on the new thread, for which nobody waits; `ready` learns whether it could be.
    init(
        _ name: String,
        make: @escaping @Sendable () throws(StoreError) -> Context,
        ready: @escaping @Sendable (StoreError?) -> Void = { _ in }
    ) throws(StoreError) {
        activity = Activity(name)
        do throws(PosixError) {
            try startDetachedThread(name, stackSize: 1 << 20) { [self] in
                defer { over.signal() }
                do throws(StoreError) {
                    let context = try make()
                    ready(nil)
                    run(context)
                } catch {
                    ready(error)
                    close()
                    run(nil)
                }
            }
        } catch { throw StoreError(.failed, "cannot start a thread of the job store: \(error)") }
    }

    /// Blocks until the context has been made on the new thread, and throws what `make` has thrown.
    convenience init(
        waiting name: String,
        make: @escaping @Sendable () throws(StoreError) -> Context
    ) throws(StoreError) {
        let made = Handover<StoreError?>()
        try self.init(name, make: make) { made.give($0) }
        if let error = made.take() { throw error }
    }

    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Context) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            let work: Work = { context in
                guard let context else { return continuation.resume(returning: .failure(.closed)) }
                continuation.resume(returning: Result { () throws(StoreError) in try body(context) })
            }
            submit(work)
        }
        return try result.get()
    }

    /// Has `work` done on the thread, or called at once and with nothing where the thread has been ended.
    func submit(_ work: @escaping @Sendable (Context?) -> Void) {
        if !post(work) { work(nil) }
    }

    /// Asks for something whose end nobody waits for.
    func start(_ body: @escaping @Sendable (Context) -> Void) {
        _ = post { context in
            if let context { body(context) }
        }
    }

    /// Ends the thread after what was asked before.
    func close() {
        state.withLock { $0.isClosed = true }
        pending.signal()
    }

    /// Ends the thread as `close` does, and blocks until it has ended; to be called once.
    func end() {
        close()
        over.wait()
    }

    private func post(_ work: @escaping Work) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.queue.append(work)
            return true
        }
        if isTaken { pending.signal() }
        return isTaken
    }

    private func run(_ context: Context?) {
        while true {
            let (work, isClosed) = state.withLock { state in
                (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.isClosed)
            }
            if let work {
                activity.begin()
                work(context)
                activity.end()
            } else if isClosed {
                return
            } else {
                pending.wait()
            }
        }
    }
}
