extension Task where Failure == Never {
    /// The task's value; a test whose time is up takes the task with it instead of waiting for ever.
    package func joined() async -> Success {
        await withTaskCancellationHandler {
            await value
        } onCancel: {
            cancel()
        }
    }
}

extension Task where Failure == any Error {
    /// The task's value; a test whose time is up takes the task with it instead of waiting for ever.
    package func joined() async throws -> Success {
        try await withTaskCancellationHandler {
            try await value
        } onCancel: {
            cancel()
        }
    }
}
