/// Runs `operation` and cancels it at `deadline`.
///
/// Costs a task group; only for waits off the straight path.
///
/// - Returns: what the operation returns, also where it was cancelled: that it returned says nothing of the deadline.
package func cancelling<Value: Sendable>(
    at deadline: Instant,
    _ time: any TimeSource,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value {
    await withTaskGroup(of: Value?.self) { group in
        group.addTask { await operation() }
        group.addTask {
            try? await time.expire(at: deadline)
            return nil
        }
        var value: Value?
        for await ended in group {
            group.cancelAll()
            if let ended { value = ended }
        }
        guard let value else { preconditionFailure("an operation ended without a value") }
        return value
    }
}
