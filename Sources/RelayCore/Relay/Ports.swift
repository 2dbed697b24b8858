/// The world as one relay sees it.
package final class RelayPorts: Sendable {
    package let transport: any Transport
    package let time: any TimeSource
    package let entropy: any Entropy
    package let sink: any EventSink
    /// Starts work that outlives the task that asked for it, on the same executor.
    package let start: @Sendable (@escaping @Sendable () async -> Void) -> Void
    /// Whether the network is constrained now; asked before every attempt, so it must answer at once.
    package let isConstrained: @Sendable () -> Bool

    package init(
        transport: any Transport,
        time: any TimeSource,
        entropy: any Entropy,
        sink: any EventSink,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void,
        isConstrained: @escaping @Sendable () -> Bool = { false }
    ) {
        self.transport = transport
        self.time = time
        self.entropy = entropy
        self.sink = sink
        self.start = start
        self.isConstrained = isConstrained
    }
}

/// Runs `operation` and cancels it at `deadline`.
///
/// Costs a task group; only for waits off the straight path.
package func cancelling<Value: Sendable>(
    at deadline: Instant,
    _ time: any TimeSource,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    await withTaskGroup(of: Value?.self) { group in
        group.addTask { await operation() }
        group.addTask {
            try? await time.expire(at: deadline)
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        return await group.next() ?? nil
    }
}
