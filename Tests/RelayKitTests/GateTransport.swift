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

    private struct Held {
        let target: String
        let continuation: CheckedContinuation<Status?, Never>
    }

    private struct Watcher {
        let condition: @Sendable (View) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var view = View()
        var held: [Int: Held] = [:]
        var watchers: [Watcher] = []

        mutating func due() -> [CheckedContinuation<Void, Never>] {
            let due = watchers.filter { $0.condition(view) }
            watchers.removeAll { $0.condition(view) }
            return due.map(\.continuation)
        }
    }

    private let state = Mutex(State())
    /// Statuses of targets that are not kept.
    private let status: @Sendable (String) -> Status?

    init(_ status: @escaping @Sendable (String) -> Status? = { _ in nil }) { self.status = status }

    var view: View { state.withLock { $0.view } }

    /// Waits until what can be seen is so, or the test's time is up.
    func until(_ condition: @escaping @Sendable (View) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSo = state.withLock { state in
                    if condition(state.view) || Task.isCancelled { return true }
                    state.watchers.append(Watcher(condition: condition, continuation: continuation))
                    return false
                }
                if isSo { continuation.resume() }
            }
        } onCancel: {
            let watchers = state.withLock { state in
                defer { state.watchers = [] }
                return state.watchers
            }
            for watcher in watchers { watcher.continuation.resume() }
        }
    }

    /// Answers the oldest exchange with that target; it must be in flight.
    func answer(_ target: String, _ status: Status = 200) {
        let (held, due) = state.withLock { state in
            let id = state.held.filter { $0.value.target == target }.keys.min()
            guard let id, let held = state.held.removeValue(forKey: id) else {
                preconditionFailure("\(target) is not in flight")
            }
            if let place = state.view.inFlight.firstIndex(of: target) {
                state.view.inFlight.remove(at: place)
            }
            return (held, state.due())
        }
        for continuation in due { continuation.resume() }
        held.continuation.resume(returning: status)
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
        let (id, due) = state.withLock { state in
            state.view.sent.append(target)
            return (state.view.sent.count, state.due())
        }
        for continuation in due { continuation.resume() }
        if let status = status(target) { return status }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { keep($0, id, target) }
        } onCancel: {
            cancel(id)
        }
    }

    private func keep(_ continuation: CheckedContinuation<Status?, Never>, _ id: Int, _ target: String) {
        let (isKept, due) = state.withLock { state in
            guard !Task.isCancelled else {
                state.view.cancelled.append(target)
                return (false, state.due())
            }
            state.held[id] = Held(target: target, continuation: continuation)
            state.view.inFlight.append(target)
            state.view.peak = max(state.view.peak, state.held.count)
            return (true, state.due())
        }
        for continuation in due { continuation.resume() }
        if !isKept { continuation.resume(returning: nil) }
    }

    private func cancel(_ id: Int) {
        let (held, due) = state.withLock { state -> (Held?, [CheckedContinuation<Void, Never>]) in
            guard let held = state.held.removeValue(forKey: id) else { return (nil, []) }
            if let place = state.view.inFlight.firstIndex(of: held.target) {
                state.view.inFlight.remove(at: place)
            }
            state.view.cancelled.append(held.target)
            return (held, state.due())
        }
        for continuation in due { continuation.resume() }
        held?.continuation.resume(returning: nil)
    }
}
