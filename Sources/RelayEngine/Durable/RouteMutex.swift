import RelayBase
import Synchronization

/// Lets one task after the other do what takes several calls of the store, for each route by itself.
final class RouteMutex: Sendable {
    /// Those who wait behind the one whose turn it is.
    private let waiting = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

    /// Does it when everybody who came before has done theirs.
    ///
    /// - Throws: what `body` throws.
    func withLock<Value>(
        _ route: String,
        _ body: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        await take(route)
        defer { give(route) }
        return try await body()
    }

    private func take(_ route: String) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[route] != nil else {
                    waiting[route] = []
                    return true
                }
                waiting[route]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func give(_ route: String) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard let others = waiting[route], let first = others.first else {
                waiting[route] = nil
                return nil
            }
            waiting[route] = Array(others.dropFirst())
            return first
        }
        next?.resume()
    }
}
