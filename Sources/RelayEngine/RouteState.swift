package import RelayCore
import Synchronization

/// What the loops share about one route: its places and its counters.
///
/// It belongs to the route's name and outlives a reload, which only moves its limits.
package final class RouteState: Sendable {
    private struct State {
        var machine: ConcurrencyMachine
        var counters: RouteCounters
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(_ limit: ConcurrencyLimit = ConcurrencyLimit()) {
        state = Mutex(
            State(
                machine: ConcurrencyMachine(limit: limit.maxRequests, maxPending: limit.maxPendingRequests),
                counters: RouteCounters()
            )
        )
    }

    /// A reload may have changed the limits: whoever waits for a place there is now gets it.
    package func resize(_ limit: ConcurrencyLimit) {
        let admitted = state.withLock { state in
            state.machine.resized(limit: limit.maxRequests, maxPending: limit.maxPendingRequests)
                .compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    package var counters: RouteCounters { state.withLock { $0.counters } }

    package var load: (inFlight: Int, pending: Int) {
        state.withLock { ($0.machine.inFlight, $0.machine.pending) }
    }

    /// Takes a place at once; nil when the request has to wait.
    package func tryEnter() -> Bool? {
        state.withLock { state in
            state.counters.requests += 1
            state.nextWaiter += 1
            switch state.machine.arrived(state.nextWaiter) {
            case .admit: return true
            case .refuse: return false
            case .wait:
                // The place in the queue is taken by `enter`, together with its continuation.
                _ = state.machine.gaveUp(state.nextWaiter)
                return nil
            }
        }
    }

    /// Waits for a place.
    ///
    /// - Returns: false when the queue is full or the task was cancelled.
    package func enter() async -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    switch state.machine.arrived(id) {
                    case .admit: return true
                    case .refuse: return false
                    case .wait:
                        state.waiters[id] = continuation
                        return nil
                    }
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.machine.gaveUp(id) ? state.waiters.removeValue(forKey: id) : nil
            }
            waiter?.resume(returning: false)
        }
    }

    /// Gives the place back.
    package func leave() {
        let next = state.withLock { state in
            state.machine.left().flatMap { state.waiters.removeValue(forKey: $0) }
        }
        next?.resume(returning: true)
    }

    /// Counts how a job ended.
    package func ended(_ outcome: Outcome, isBreach: Bool, wallSeconds: Int64) {
        state.withLock { $0.counters.ended(outcome, isBreach: isBreach, wallSeconds: wallSeconds) }
    }
}
