/// Bounds how many requests of a route are with the upstream, and how many may wait.
///
/// Waiting requests are let in by turns of their callers, as `WaitingLine` has it.
package struct ConcurrencyMachine: Sendable {
    package typealias Caller = WaitingLine.Caller

    package private(set) var inFlight = 0
    private var limit: Int
    /// How many the upstream takes at once as far as that is known.
    package var width = Int.max
    private var maxPending: Int
    /// Who looks for kept jobs waits among the others and takes none of their room: one, or two where a reload has taken
    /// the place of the first.
    private var line = WaitingLine()
    /// Permits, of those in flight, of which nobody knows yet whether there is a kept job for them.
    private var looking = 0

    package init(limit: Int, maxPending: Int) {
        self.limit = limit
        self.maxPending = maxPending
    }

    /// Requests that may be with the upstream now.
    private var most: Int { min(limit, max(1, width)) }

    /// Whether less may be with the upstream than the limit allows.
    package var isNarrowed: Bool { width < limit }

    /// Permits with which something is sent: whoever only looks for a job gives back what it finds none for.
    package var underWay: Int { inFlight - looking }

    /// Whether no permit is left.
    package var isFull: Bool { inFlight >= most }

    /// Requests that wait.
    package var pending: Int { line.requests }

    package enum Arrival: Sendable {
        case admit
        case wait
        case refuse
    }

    /// Somebody wants a permit; one that looks for kept jobs waits however many do, and is none of the requests that wait.
    package mutating func arrived(_ id: UInt64, _ caller: Caller, urgency: UInt8 = 3) -> Arrival {
        if inFlight < most, line.isEmpty {
            inFlight += 1
            if caller == .keptJobs { looking += 1 }
            return .admit
        }
        guard caller == .keptJobs || hasRoom(for: caller) else { return .refuse }
        line.join(id, caller, urgency: urgency)
        return .wait
    }

    /// A request wants a permit, and takes it where one is free and nobody waits.
    mutating func arrivedPlainly() -> Bool {
        guard inFlight < most, line.isEmpty else { return false }
        inFlight += 1
        return true
    }

    /// A request left the upstream, where nobody waits for its permit.
    mutating func leftPlainly() -> Bool {
        guard line.isEmpty else { return false }
        inFlight -= 1
        return true
    }

    /// A caller that is alone may have all of the room.
    ///
    /// Where the room is full, one that has less than its share waits beyond it, so that nobody keeps others out: with `n`
    /// callers at most 1 + 1/2 + … + 1/n times the room is taken.
    ///
    /// Of room for 12, with what the callers have waiting:
    ///
    /// | waiting | a newcomer may have | those who wait may have |
    /// |---|---|---|
    /// | 11 | any that is left | any that is left |
    /// | 12 | 6 | none more |
    /// | 12, 6 | 4 | the second none more |
    /// | 4, 4, 4 | 3 | none more |
    private func hasRoom(for caller: Caller) -> Bool {
        // Permits with which somebody only looks may come back in a moment, and who waits for the window and not for the
        // limit takes none of the room.
        let room = maxPending + looking + (limit - most)
        if pending < room { return true }
        let own = line.count(of: caller)
        return room > 0 && own < max(1, room / (line.callers + (own == 0 ? 1 : 0)))
    }

    /// Takes up to `count` free permits to look for as many kept jobs; there are none while anybody waits.
    package mutating func take(_ count: Int) -> Int {
        guard line.isEmpty else { return 0 }
        let taken = max(0, min(count, most - inFlight))
        inFlight += taken
        looking += taken
        return taken
    }

    /// Takes a free permit to wait with for the disk, as one that looks does.
    ///
    /// There is none while anybody waits, and of several permits half are left to those who need no disk.
    package mutating func offer() -> Bool {
        guard looking == 0 || looking * 2 < most else { return false }
        return take(1) == 1
    }

    /// There is a job for one of the permits with which one looked.
    package mutating func found() { looking -= 1 }

    /// The limits changed.
    ///
    /// - Returns: those who are let in by that, in their order.
    package mutating func resized(limit: Int, maxPending: Int) -> [UInt64] {
        self.limit = limit
        self.maxPending = maxPending
        return admitted()
    }

    /// The window has grown.
    ///
    /// - Returns: those who are let in by that, in their order.
    package mutating func widened(to width: Int) -> [UInt64] {
        self.width = width
        return admitted()
    }

    /// Those who wait and are let in now, in their order.
    private mutating func admitted() -> [UInt64] {
        var admitted: [UInt64] = []
        while inFlight < most, let next = line.next() {
            inFlight += 1
            if next.looks { looking += 1 }
            admitted.append(next.id)
        }
        return admitted
    }

    /// A request left the upstream, or one `looked` and there was no job; its permit goes to the first of those returned.
    ///
    /// There are more where the window has grown meanwhile.
    package mutating func left(looked: Bool = false) -> [UInt64] {
        if looked { looking -= 1 }
        inFlight -= 1
        return line.isEmpty ? [] : admitted()
    }

    /// A waiting request gave up.
    ///
    /// - Returns: false when it had been let in already: it then has a permit to give back.
    package mutating func gaveUp(_ id: UInt64) -> Bool { line.gaveUp(id) }
}
