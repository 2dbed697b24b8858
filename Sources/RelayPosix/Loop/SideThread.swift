import Synchronization

/// Does long work beside every loop: on one thread of its own, one after the other, which is there while there is some.
///
/// The process's shared pool of threads is no place for it: it sets priorities, which a sandboxed service may not.
package final class SideThread: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let name: String
    private let state = Mutex(State())

    /// `name` is shown by `ps -L`.
    package init(_ name: String) { self.name = name }

    /// Has `work` done after what was asked before; by the caller where no thread can be had.
    package func start(_ work: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            state.queue.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard begins else { return }
        do throws(PosixError) {
            try startDetachedThread(name) { [self] in run() }
        } catch {
            run()
        }
    }

    package func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in start { continuation.resume(returning: work()) } }
    }

    private func run() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.queue.removeFirst()
        }
    }
}
