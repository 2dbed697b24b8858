package import RelayBase
package import RelayCore
package import RelayJobs
import Synchronization

/// Keeps the latest events in memory, numbered, for readers that poll or wait.
///
/// A process numbers its events from the time of its start, so that numbers grow over restarts unless the wall clock was
/// set back.
package final class EventFeed: JobListener {
    private struct State {
        var ring: [Told] = []
        /// The number of the next event.
        var next: UInt64
        var waiters: [ObjectIdentifier: Pending<Void>] = [:]
        var refusals = RefusalRation()

        /// The number of the oldest event that is still there, or of the next one.
        var first: UInt64 { next - UInt64(ring.count) }
    }

    package let capacity: Int
    /// The number of the first event of this process.
    private let first: UInt64
    private let state: Mutex<State>

    package init(capacity: Int = 4096, first: UInt64 = 1) {
        self.capacity = max(1, capacity)
        self.first = max(1, first)
        state = Mutex(State(next: max(1, first)))
    }

    /// Where the numbers of a process begin that starts at that moment, in milliseconds since 1970 UTC.
    ///
    /// No process tells of a thousand events a millisecond for long; a reader may hold a number as a JSON double.
    package static func firstNumber(at milliseconds: Int64) -> UInt64 {
        UInt64(min(max(1, milliseconds), 1 << 43)) * 1_000
    }

    package func heard(_ event: JobEvent, at wall: Int64) {
        guard let kind = event.kind else { return }
        let waiters: [ObjectIdentifier: Pending<Void>] = state.withLock { state in
            if case .requestRefused(let refused) = event,
                !state.refusals.takes(refused.client?.user, wall)
            {
                return [:]
            }
            let told = Told(number: state.next, at: wall, kind: kind, event: event.shown)
            if state.ring.count < capacity {
                state.ring.append(told)
            } else {
                state.ring[index(state.next)] = told
            }
            state.next += 1
            guard !state.waiters.isEmpty else { return [:] }
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.give(()) }
    }

    private func index(_ number: UInt64) -> Int { Int((number - first) % UInt64(capacity)) }

    /// The events numbered above `number`, oldest first; with nil only what comes from now on.
    ///
    /// With 0 everything that is there. Any other number that none of this process's events has is one of an earlier
    /// process: everything is then new, and nobody knows what was missed.
    package func events(after number: UInt64?, limit: Int) -> Reading {
        state.withLock { state in
            var reading = Reading()
            guard let number else {
                reading.next = state.next - 1
                return reading
            }
            let isKnown = number == 0 || (first - 1..<state.next).contains(number)
            let after = isKnown ? max(number, first - 1) : state.first - 1
            let lost = max(after, state.first - 1) - after
            reading.gap = !isKnown ? .unknown : lost > 0 ? .lost(lost) : nil
            reading.next = after + lost
            let count = min(UInt64(max(0, limit)), state.next - 1 - reading.next)
            reading.events.reserveCapacity(Int(count))
            for _ in 0..<count {
                reading.next += 1
                reading.events.append(state.ring[index(reading.next)])
            }
            return reading
        }
    }

    /// One event as a reader gets it.
    package struct Told: Sendable {
        package var number: UInt64
        /// Milliseconds since 1970 UTC.
        package var at: Int64
        package var kind: EventKind
        package var event: JobEvent
    }

    package struct Reading: Sendable {
        package var events: [Told] = []
        /// The gap between `number` and the first one; nil when there is none.
        package var gap: Gap?
        /// Where the next reading goes on.
        package var next: UInt64 = 0
    }

    /// Events that a reader will never see.
    package enum Gap: Hashable, Sendable {
        /// So many are no longer there.
        case lost(UInt64)
        /// The reader last heard an earlier process.
        case unknown
    }

    /// Returns when there is an event numbered above `number`, at `deadline`, or when the task is cancelled.
    package func wait(after number: UInt64, by deadline: Instant, _ time: any TimeSource) async {
        let waiter = Pending<Void>()
        let waits = state.withLock { state in
            if state.next - 1 <= number { state.waiters[ObjectIdentifier(waiter)] = waiter }
            return state.next - 1 <= number
        }
        guard waits else { return }
        _ = await cancelling(at: deadline, time) { await waiter.valueUnlessCancelled() }
        state.withLock { $0.waiters[ObjectIdentifier(waiter)] = nil }
    }

    /// How many tasks wait now.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }
}
