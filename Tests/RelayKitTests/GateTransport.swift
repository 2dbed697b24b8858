import RelayKit
import Synchronization

/// A transport that keeps every exchange until the test answers it, or its task is cancelled.
final class GateTransport: Transport {
    /// The exchanges as they can be seen from outside.
    struct View: Sendable {
        /// Targets without the leading slash, in the order they were sent.
        var sent: [String] = []
        var inFlight: [String] = []
        var cancelled: [String] = []
        /// The most exchanges in flight at once.
        var peak = 0
    }

    private struct State {
        var view = View()
        var held: [Int: (target: String, continuation: CheckedContinuation<Status?, Never>)] = [:]

        /// Takes an exchange out of those in flight.
        mutating func take(_ id: Int) -> CheckedContinuation<Status?, Never>? {
            guard let (target, continuation) = held.removeValue(forKey: id) else { return nil }
            if let place = view.inFlight.firstIndex(of: target) { view.inFlight.remove(at: place) }
            return continuation
        }
    }

    private let state = Mutex(State())
    /// Statuses of targets that are not kept.
    private let status: @Sendable (String) -> Status?

    init(_ status: @escaping @Sendable (String) -> Status? = { _ in nil }) { self.status = status }

    var view: View { state.withLock { $0.view } }

    /// Answers the oldest exchange with that target; it must be in flight.
    func answer(_ target: String, _ status: Status = 200) {
        let continuation = state.withLock { state in
            state.held.filter { $0.value.target == target }.keys.min().flatMap { state.take($0) }
        }
        guard let continuation else { preconditionFailure("\(target) is not in flight") }
        continuation.resume(returning: status)
    }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        let target = String(request.target.dropFirst())
        guard let status = await exchange(target) else {
            throw Failure(.cancelled, sent: .unknown, "closed")
        }
        return InboundResponse(
            response: HTTPResponse(status: status, body: .bytes(Array(target.utf8))),
            exchange: Exchange()
        )
    }

    private func exchange(_ target: String) async -> Status? {
        let id = state.withLock { state in
            state.view.sent.append(target)
            return state.view.sent.count
        }
        if let status = status(target) { return status }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isKept = state.withLock { state in
                    guard !Task.isCancelled else {
                        state.view.cancelled.append(target)
                        return false
                    }
                    state.held[id] = (target, continuation)
                    state.view.inFlight.append(target)
                    state.view.peak = max(state.view.peak, state.held.count)
                    return true
                }
                if !isKept { continuation.resume(returning: nil) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.take(id)
                if continuation != nil { state.view.cancelled.append(target) }
                return continuation
            }
            continuation?.resume(returning: nil)
        }
    }
}
