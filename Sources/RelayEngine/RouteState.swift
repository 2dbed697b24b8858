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
        var pause: PauseInForce?
    }

    private let state: Mutex<State>
    /// Whether there may be a pause to look at.
    private let isPaused = Atomic<Bool>(false)

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
    /// - Returns: false when the queue is full, which it never is for one that `mayExceed`, or the task was cancelled.
    package func enter(mayExceed: Bool = false) async -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    switch state.machine.arrived(id, mayExceed: mayExceed) {
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

    /// Takes up to `count` places that nobody waits for.
    func takeFree(_ count: Int) -> Int { state.withLock { $0.machine.take(count) } }

    /// Nil when the route is not paused at that moment.
    func pause(at now: Instant) -> PauseInForce? {
        guard isPaused.load(ordering: .relaxed) else { return nil }
        guard let pause = state.withLock({ $0.pause }), !pause.isOver(now) else { return nil }
        return pause
    }

    func set(_ pause: PauseInForce?) {
        state.withLock { state in
            state.pause = pause
            isPaused.store(pause != nil, ordering: .relaxed)
        }
    }

    /// Counts a durable job whose time ran out while it waited.
    func expired() { state.withLock { $0.counters.expired() } }

    /// Counts a durable job that ended in the store.
    func ended(_ job: EndedJob) { state.withLock { $0.counters.ended(job) } }

    /// Counts how a durable job ended.
    func ended(_ end: DurableEnd, _ source: AnswerSource?, wallSeconds: Int64) {
        state.withLock { $0.counters.ended(end, source, wallSeconds: wallSeconds) }
    }

    /// Takes up why a durable job waits for another attempt.
    func putOff(_ failure: Failure, wallSeconds: Int64) {
        state.withLock { $0.counters.putOff(failure, wallSeconds: wallSeconds) }
    }

    /// Counts how a job ended.
    package func ended(_ outcome: Outcome, isBreach: Bool, wallSeconds: Int64) {
        state.withLock { $0.counters.ended(outcome, isBreach: isBreach, wallSeconds: wallSeconds) }
    }
}
