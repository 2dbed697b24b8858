import RelayBase
import RelayCore
import RelayJobs
import Synchronization

/// Those who wait for the disk to take their job; one task looks after all of them.
final class AcceptanceWaits: Sendable {
    typealias Answer = Result<EnqueueResult, StoreError>

    /// One who waits.
    final class Waiter: Sendable {
        let deadline: Instant
        /// After the end of the time only an answer that is on its way is waited for.
        let pending = Pending<Answer>()
        private let isOver = Atomic<Bool>(false)

        init(deadline: Instant) { self.deadline = deadline }

        /// The time is over: whoever waits goes on without an answer.
        func end() {
            if !isOver.exchange(true, ordering: .relaxed) { pending.giveUp() }
        }

        /// The answer; nil when the time is over before the store has said its word.
        func answer(unlessGivenUp wait: AcceptanceWait) async -> Answer? {
            if let answer = await pending.value() { return answer }
            if wait.giveUp() { return nil }
            return await pending.value()
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
