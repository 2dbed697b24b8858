import Synchronization

/// One wait, woken once: by the clock (true) or by cancellation (false).
final class Sleeper: Sendable {
    private let waiting = Mutex<CheckedContinuation<Bool, Never>?>(nil)

    var isAsleep: Bool { waiting.withLock { $0 != nil } }

    func sleep(_ continuation: CheckedContinuation<Bool, Never>) { waiting.withLock { $0 = continuation } }

    func wake(_ isOver: Bool) -> Bool {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: isOver)
        return continuation != nil
    }
}

extension Confined where Value: Simulated {
    /// Waits until then; false, at once, when the task is cancelled.
    func pause(until at: Int64) async -> Bool {
        let sleeper = Sleeper()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let timeline = value.timeline
                if Task.isCancelled { return continuation.resume(returning: false) }
                if at <= timeline.now { return continuation.resume(returning: true) }
                sleeper.sleep(continuation)
                timeline.sleeping += 1
                timeline.add(.sleeper(sleeper), at: at)
            }
        } onCancel: {
            if sleeper.wake(false) { value.timeline.sleeping -= 1 }
        }
    }

    /// Waits until then, whatever becomes of the task.
    func outwait(until at: Int64) async {
        await withCheckedContinuation { continuation in
            value.timeline.add(.call { continuation.resume() }, at: at)
        }
    }
}
