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
        var ring: [Entry] = []
        var nextNumber: UInt64
        var waiters: [ObjectIdentifier: Pending<Void>] = [:]
        var refusals = RefusalRation()
        /// When events of a kind were last read.
        var read: [EventKind: Instant] = [:]

        /// The number of the oldest event in the ring; `nextNumber` where it is empty.
        var oldestNumber: UInt64 { nextNumber - UInt64(ring.count) }
    }

    private let capacity: Int
    /// The number of the first event of this process.
    private let firstNumber: UInt64
    private let state: Mutex<State>

    package init(capacity: Int = 4096, first: UInt64 = 1) {
        self.capacity = max(1, capacity)
        firstNumber = max(1, first)
        state = Mutex(State(nextNumber: max(1, first)))
    }

    /// The first event number of a process that starts at that moment, in milliseconds since 1970 UTC.
    ///
    /// No process keeps up a thousand events a millisecond, so the next one starts above its numbers.
    package static func firstNumber(at milliseconds: Int64) -> UInt64 {
        // Below 2⁵³, so that a JSON reader can hold a number as a double.
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
            return add(kind, event.shown, wall, to: &state)
        }
        // Outside the lock: a task that goes on may call back at once.
        for waiter in waiters.values { waiter.give(()) }
    }

    /// - Returns: whoever waits for it.
    private func add(
        _ kind: EventKind,
        _ event: JobEvent,
        _ wall: Int64,
        to state: inout State
    ) -> [ObjectIdentifier: Pending<Void>] {
        let entry = Entry(number: state.nextNumber, at: wall, kind: kind, event: event)
        if state.ring.count < capacity {
            state.ring.append(entry)
        } else {
            state.ring[ringIndex(of: state.nextNumber)] = entry
        }
        state.nextNumber += 1
        guard !state.waiters.isEmpty else { return [:] }
        defer { state.waiters = [:] }
        return state.waiters
    }

    /// Takes an event of another daemon of the fleet.
    package func take(_ event: SharedEvent) {
        let waiters = state.withLock { add(event.kind, .elsewhere(event), event.at, to: &$0) }
        for waiter in waiters.values { waiter.give(()) }
    }

    /// Notes that somebody reads events of these kinds; of all where it is empty.
    package func reads(_ kinds: Set<EventKind>, at now: Instant) {
        state.withLock { state in
            for kind in kinds.isEmpty ? Set(EventKind.asked) : kinds { state.read[kind] = now }
        }
    }

    /// The kinds of events that somebody has read since then.
    package func kindsRead(since: Instant) -> Set<EventKind> {
        state.withLock { Set($0.read.filter { $0.value >= since }.keys) }
    }

    private func ringIndex(of number: UInt64) -> Int { Int((number - firstNumber) % UInt64(capacity)) }

    /// The events numbered above `number`, oldest first; nil starts with the next event, 0 with the oldest.
    ///
    /// A number that this process never gave is one of an earlier process: the reading has all events and the gap
    /// `unknown`. The gap `lost` counts events that were overwritten since `number`.
    package func events(after number: UInt64?, limit: Int) -> Reading {
        state.withLock { state in
            var reading = Reading()
            guard let number else {
                reading.lastNumber = state.nextNumber - 1
                return reading
            }
            // A reader that came before the first event stands one below its number.
            let isKnown = number == 0 || (firstNumber - 1..<state.nextNumber).contains(number)
            let after = isKnown ? max(number, firstNumber - 1) : state.oldestNumber - 1
            let lost = max(after, state.oldestNumber - 1) - after
            reading.gap = !isKnown ? .unknown : lost > 0 ? .lost(lost) : nil
            reading.lastNumber = after + lost
            let count = min(UInt64(max(0, limit)), state.nextNumber - 1 - reading.lastNumber)
            reading.events.reserveCapacity(Int(count))
            for _ in 0..<count {
                reading.lastNumber += 1
                reading.events.append(state.ring[ringIndex(of: reading.lastNumber)])
            }
            return reading
        }
    }

    /// One event as a reader gets it.
    package struct Entry: Sendable {
        package var number: UInt64
        /// Milliseconds since 1970 UTC.
        package var at: Int64
        package var kind: EventKind
        package var event: JobEvent
    }

    package struct Reading: Sendable {
        package var events: [Entry] = []
        /// The events that the reader missed before these; nil where it missed none.
        package var gap: Gap?
        /// The number after which the next reading begins.
        package var lastNumber: UInt64 = 0
    }

    /// Events that a reader will never see.
    package enum Gap: Hashable, Sendable {
        /// So many were overwritten.
        case lost(UInt64)
        /// The reader last read from an earlier process; how many it missed is not known.
        case unknown
    }

    /// Returns when there is an event numbered above `number`, at `deadline`, or when the task is cancelled.
    package func wait(after number: UInt64, by deadline: Instant, _ time: any TimeSource) async {
        let waiter = Pending<Void>()
        let waits = state.withLock { state in
            if state.nextNumber - 1 <= number { state.waiters[ObjectIdentifier(waiter)] = waiter }
            return state.nextNumber - 1 <= number
        }
        guard waits else { return }
        _ = await cancelling(at: deadline, time) { await waiter.valueUnlessCancelled() }
        state.withLock { $0.waiters[ObjectIdentifier(waiter)] = nil }
    }

    /// How many tasks wait now.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }
}
