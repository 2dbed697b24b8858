import RelayBase

/// Runs a program's own code, cancels it at `deadline` and leaves it to itself when it has not ended a second later.
///
/// - Returns: nil when it did not end, or the task was cancelled before it did.
func bounding<Value: Sendable>(
    at deadline: Instant,
    _ time: any TimeSource,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let pending = Pending<Value>()
    // Nobody's children: a group would wait for code that does not heed its cancellation.
    let work = Task { pending.give(await operation()) }
    let clock = Task {
        guard (try? await time.expire(at: deadline)) != nil else { return }
        work.cancel()
        guard (try? await time.expire(at: deadline.advanced(by: .seconds(1)))) != nil
        else { return }
        pending.giveUp()
    }
    defer {
        work.cancel()
        clock.cancel()
    }
    return await pending.valueUnlessCancelled()
}
