import RelayBase
import RelayCore
import RelayRoute
import Synchronization

/// The dispatch of one route: its machine, and the task that does what the machine says.
final class RouteDispatcher: Sendable {
    private struct State {
        var machine = DispatchMachine()
        var isWoken = false
        var sleeper: CheckedContinuation<Void, Never>?
        var pump: Task<Void, Never>?
        var isEnded = false
    }

    let route: String
    private let clock: any ClockSource
    private let state = Mutex(State())

    init(route: String, _ clock: any ClockSource) { (self.route, self.clock) = (route, clock) }

    /// Asks or tells the machine; what it then has to do is done at once.
    func tell<Value: Sendable>(_ body: (inout DispatchMachine) -> Value) -> Value {
        let (value, sleeper) = state.withLock { state in
            let value = body(&state.machine)
            state.isWoken = true
            return (value, state.sleeper.take())
        }
        sleeper?.resume()
        return value
    }

    /// Asks the machine what to do, or tells it something that gives it nothing to do.
    func ask<Value: Sendable>(_ body: (inout DispatchMachine) -> Value) -> Value {
        state.withLock { body(&$0.machine) }
    }

    /// The step to take now; whatever wakes the dispatcher from here on ends the sleep that may follow.
    ///
    /// `entry` is the route's as it is configured now, whose limit of requests counts, and its pause; `isShort` tells of
    /// memory.
    func step(_ now: Instant, _ entry: Snapshot.Entry?, isShort: Bool) -> DispatchMachine.Step {
        let limit = entry?.route.policy.concurrency.maxRequests ?? 1
        let capacity = entry.map { $0.capacity(clock, now) }
        let (step, isHeldBack) = state.withLock { state in
            state.isWoken = false
            let step = state.machine.step(
                now,
                permits: limit,
                isPaused: entry?.state.isPaused ?? false,
                isShort: isShort,
                capacity: capacity?.count ?? .max,
                later: capacity?.hold?.until
            )
            return (step, state.machine.isHeldBack)
        }
        if isHeldBack, let entry, capacity?.hold?.reason != .routeClosed, case .sleep(let until) = step {
            entry.memory.traffic.keptWait(entry.route, until: until, now)
        }
        return step
    }

    /// Whether a job on its way to disk may be claimed with its acceptance.
    func offers(_ now: Instant, _ entry: Snapshot.Entry, isShort: Bool) -> Bool {
        let limit = entry.route.policy.concurrency.maxRequests
        let capacity = entry.capacity(clock, now).count
        guard capacity > 0 else { return false }
        return state.withLock {
            $0.machine.offered(
                now,
                permits: limit,
                isPaused: entry.state.isPaused,
                isShort: isShort,
                capacity: capacity
            )
        }
    }

    /// Returns at `deadline`, when somebody told the machine something, or when the task is cancelled.
    func sleep(until deadline: Instant, _ time: any TimeSource) async {
        await cancelling(at: deadline, time) { await self.sleep() }
    }

    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isWoken || Task.isCancelled { return true }
                    state.sleeper = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleeper.take() }?.resume()
        }
    }
}

extension RouteDispatcher {
    /// The machine is to be asked again, whatever happened.
    func wake() { tell { _ in } }

    /// Keeps the task that does the work, to be cancelled with the dispatcher.
    func keep(_ pump: Task<Void, Never>) {
        let isEnded = state.withLock { state in
            state.pump = pump
            return state.isEnded
        }
        if isEnded { pump.cancel() }
    }

    /// No more claims; the task ends as soon as what it has asked for is answered.
    func end() {
        let pump = state.withLock { state in
            state.isEnded = true
            return state.pump
        }
        tell { $0.end() }
        pump?.cancel()
    }
}

extension Snapshot.Entry {
    /// How many attempts of kept jobs may begin now, of as many as `most`, and what holds the others back.
    func capacity(
        _ clock: any ClockSource,
        _ now: Instant,
        atMost most: Int = .max
    ) -> (count: Int, hold: AttemptDeferral?) {
        closing(clock, now).map { (0, $0) } ?? memory.traffic.capacity(route, now, atMost: most)
    }

    /// The hold of a planned window; nil while the route is open.
    func closing(_ clock: any ClockSource, _ now: Instant) -> AttemptDeferral? {
        route.policy.closed == nil ? nil : route.closing(now, wall: clock.wallMilliseconds())
    }
}
