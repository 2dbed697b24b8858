import RelayBase
import RelayCore
import RelayJobs
import Synchronization

/// Those who wait for the disk to take their job; one task looks after all of them.
final class AcceptanceWaits: Sendable {
    typealias Answer = Result<EnqueueResult, StoreError>

    /// One who waits.
    final class Waiter: Sendable {
        private struct State {
            var answer: Answer?
            var isOver = false
            var waiter: CheckedContinuation<Answer?, Never>?
        }

        let deadline: Instant
        private let state = Mutex(State())

        init(deadline: Instant) { self.deadline = deadline }

        func give(_ answer: Answer) {
            let waiter = state.withLock { state in
                state.answer = answer
                return state.waiter.take()
            }
            waiter?.resume(returning: answer)
        }

        /// The time is over: whoever waits goes on without an answer.
        func end() {
            let waiter = state.withLock { state -> CheckedContinuation<Answer?, Never>? in
                // A wait that begins after that is for an answer that is on its way.
                guard !state.isOver else { return nil }
                state.isOver = true
                return state.waiter.take()
            }
            waiter?.resume(returning: nil)
        }

        /// The answer; nil when the time is over, unless it `isOnItsWay`.
        func answer(isOnItsWay: Bool = false) async -> Answer? {
            await withCheckedContinuation { continuation in
                let end: Answer?? = state.withLock { state in
                    if state.answer != nil || state.isOver && !isOnItsWay { return .some(state.answer) }
                    state.waiter = continuation
                    return nil
                }
                if let end { continuation.resume(returning: end) }
            }
        }

        /// The answer; nil when the time is over before the store has said its word.
        func answer(unlessGivenUp wait: AcceptanceWait) async -> Answer? {
            if let answer = await answer() { return answer }
            if wait.giveUp() { return nil }
            return await answer(isOnItsWay: true)
        }
    }

    private struct State {
        var waiters: [ObjectIdentifier: Waiter] = [:]
        var isWatched = false
    }

    /// How often one looks for deadlines that came meanwhile; one that is nearer has a task of its own.
    private static let interval = Duration.milliseconds(250)

    private let state = Mutex(State())

    /// A place until `deadline`, which has to be left.
    func enter(until deadline: Instant, _ ports: RelayPorts) -> Waiter {
        let place = Waiter(deadline: deadline)
        let isFirst = state.withLock { state in
            state.waiters[ObjectIdentifier(place)] = place
            defer { state.isWatched = true }
            return !state.isWatched
        }
        let time = ports.time
        if time.now().advanced(by: AcceptanceWaits.interval) >= deadline {
            _ = ports.start {
                try? await time.expire(at: deadline)
                place.end()
            }
        }
        if isFirst { _ = ports.start { [self] in await watch(time) } }
        return place
    }

    func remove(_ place: Waiter) {
        state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(place)) }
    }

    /// Ends the waits whose time is over, as long as anybody waits.
    private func watch(_ time: any TimeSource) async {
        while let next = endOverdue(time.now()) {
            try? await time.expire(at: min(next, time.now().advanced(by: AcceptanceWaits.interval)))
        }
    }

    /// Ends the waits that are over at that moment.
    ///
    /// - Returns: the first deadline that is left; nil when nobody waits.
    private func endOverdue(_ now: Instant) -> Instant? {
        let (overdue, next) = state.withLock { state in
            state.isWatched = !state.waiters.isEmpty
            var (overdue, next) = ([Waiter](), Instant.distantFuture)
            for place in state.waiters.values {
                if place.deadline <= now { overdue.append(place) } else { next = min(next, place.deadline) }
            }
            return (overdue, state.isWatched ? next : nil)
        }
        for place in overdue { place.end() }
        return next
    }
}
