import Synchronization

/// Runs a program's own code, cancels it at `deadline` and leaves it to itself when it has not ended a second later.
///
/// - Returns: nil when it did not end, or the task was cancelled before it did.
func bounding<Value: Sendable>(
    at deadline: Instant,
    _ time: any TimeSource,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let end = FirstEnd<Value>()
    // Nobody's children: a group would wait for code that does not heed its cancellation.
    let work = Task { end.came(await operation()) }
    let clock = Task {
        guard (try? await time.expire(at: deadline)) != nil else { return }
        work.cancel()
        guard (try? await time.expire(at: deadline.advanced(by: .seconds(1)))) != nil
        else { return }
        end.came(nil)
    }
    defer {
        work.cancel()
        clock.cancel()
    }
    return await withTaskCancellationHandler {
        await end.value()
    } onCancel: {
        end.came(nil)
    }
}

/// The first of several ends; later ones change nothing.
final class FirstEnd<Value: Sendable>: Sendable {
    private struct State {
        var end: Value??
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Mutex(State())

    func came(_ value: Value?) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard state.end == nil else { return nil }
            state.end = .some(value)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: value)
    }

    func value() async -> Value? {
        await withCheckedContinuation { waiter in
            let end = state.withLock { state -> Value?? in
                if state.end == nil { state.waiter = waiter }
                return state.end
            }
            if let end { waiter.resume(returning: end) }
        }
    }
}
