import RelayCore
import Synchronization

/// Those who wait for the disk to take their job; one task looks after all of them.
final class AcceptanceWaits: Sendable {
    typealias Answer = Result<EnqueueResult, StoreError>

    /// One who waits.
    final class Place: Sendable {
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
                // Who waits after that waits for an answer that is on its way.
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
    }

    private struct State {
        var places: [ObjectIdentifier: Place] = [:]
        var isWatched = false
    }

    /// How exactly deadlines are kept.
    private static let interval = Duration.milliseconds(250)

    private let state = Mutex(State())

    /// A place until `deadline`, which has to be left.
    func enter(until deadline: Instant, _ ports: RelayPorts) -> Place {
        let place = Place(deadline: deadline)
        let isFirst = state.withLock { state in
            state.places[ObjectIdentifier(place)] = place
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if isFirst { _ = ports.start { [self] in await watch(ports.time) } }
        return place
    }

    func leave(_ place: Place) {
        state.withLock { _ = $0.places.removeValue(forKey: ObjectIdentifier(place)) }
    }

    /// Ends the waits whose time is over, as long as anybody waits.
    private func watch(_ time: any TimeSource) async {
        repeat {
            try? await time.expire(at: time.now().advanced(by: AcceptanceWaits.interval))
        } while endOverdue(time.now())
    }

    private func endOverdue(_ now: Instant) -> Bool {
        let (overdue, isWatched) = state.withLock { state in
            state.isWatched = !state.places.isEmpty
            return (state.places.values.filter { $0.deadline <= now }, state.isWatched)
        }
        for place in overdue { place.end() }
        return isWatched
    }
}
