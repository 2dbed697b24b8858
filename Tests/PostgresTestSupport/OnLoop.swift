package import RelayPosix

/// Runs a test's body on a loop of its own, with all that belongs to it.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    let loop = try EventLoop.start(name: "test")
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
        loop.spawn {
            do {
                continuation.resume(returning: .success(try await body(loop)))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    loop.stop()
    return try result.get()
}
