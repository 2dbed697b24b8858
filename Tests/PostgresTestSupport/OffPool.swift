import RelayPosix

/// Runs what blocks on a thread of its own: the threads of tasks are few, and all tests share them.
package func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
        do {
            try startDetachedThread("blocking") { continuation.resume(returning: Result { try body() }) }
        } catch { continuation.resume(returning: .failure(error)) }
    }
    return try result.get()
}
