package import RelayBase

/// Bounds how many requests of a route are with the upstream, and how many may wait.
///
/// Waiting requests are let in by turns of their callers, as `FairQueue` has it.
package struct ConcurrencyMachine: Sendable {
    package typealias Caller = FairQueue.Caller

    package private(set) var inFlight = 0
    private var limit: Int
    /// How many the upstream takes at once as far as that is known.
    package var width = Int.max
    private(set) var maxPending: Int
    /// Searches for kept jobs wait among the others and take none of their room: one, or two where a reload has taken
    /// the place of the first.
    private var line = FairQueue()
    /// Permits, of those in flight, of which nobody knows yet whether there is a kept job for them.
    private var looking = 0
    /// Answers that are on their way.
    private var streams = StreamShares()
    /// Requests whose answers would stream, of callers that have their share of that, in the order of their arrival.
    private var apart: [(id: UInt64, caller: Caller, urgency: UInt8)] = []

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

    /// Whether what is out keeps to a width that has become less, and nobody waits for a permit.
    var hasPermit: Bool { inFlight <= most && line.isEmpty }

    /// Requests that wait.
    package var pending: Int { line.requests + apart.count }

    /// The user who has most requests waiting.
    package var crowd: (user: UInt32, count: Int)? { line.most }

    /// Whether requests wait, and those that one caller has waiting, with all that are under way, are so many.
    package func isCrowded(by caller: Caller, atLeast count: Int) -> Bool {
        pending > 0 && inFlight + line.count(of: caller) >= count
    }

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
        guard caller == .keptJobs || hasCapacity(for: caller) else { return .refuse }
        line.join(id, caller, urgency: urgency)
        return .wait
    }

    /// A request wants a permit, and takes it where one is free and nobody waits, not even for another stream.
    mutating func arrivedPlainly() -> Bool {
        guard inFlight < most, line.isEmpty, apart.isEmpty, streams.isEmpty || !streams.mayBeFull(of: limit)
        else { return false }
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
    private func hasCapacity(for caller: Caller) -> Bool {
        // Permits with which somebody only looks may come back in a moment, and who waits for the window and not for the
        // limit takes none of the room.
        let room = maxPending + looking + (limit - most)
        if pending < room { return true }
        let own = line.count(of: caller) + (apart.isEmpty ? 0 : apart.count { $0.caller == caller })
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
        // A request that waits for a stream to end may have a share now that is not taken.
        for next in apart { line.join(next.id, next.caller, urgency: next.urgency) }
        apart = []
        return admitted()
    }

    /// Those who wait and are let in now, in their order.
    mutating func admitted() -> [UInt64] {
        var admitted: [UInt64] = []
        while inFlight < most, let next = line.next() {
            inFlight += 1
            if next.looks { looking += 1 }
            admitted.append(next.id)
        }
        return admitted
    }

    /// A request left the upstream, or a claim (`isClaim`) found no kept job; its permit goes to the first of those
    /// returned.
    ///
    /// There are more where the window has grown meanwhile.
    package mutating func left(isClaim: Bool = false) -> [UInt64] {
        if isClaim { looking -= 1 }
        inFlight -= 1
        return line.isEmpty ? [] : admitted()
    }

    /// A waiting request gave up.
    ///
    /// - Returns: false when it had been let in already: it then has a permit to give back.
    package mutating func gaveUp(_ id: UInt64) -> Bool {
        if let index = apart.firstIndex(where: { $0.id == id }) {
            apart.remove(at: index)
            return true
        }
        return line.gaveUp(id)
    }
}

// The permits of answers that stream.
extension ConcurrencyMachine {
    /// A request wants a permit whose answer would stream, as far as that is known.
    package mutating func arrived(
        _ id: UInt64,
        stream caller: Caller,
        urgency: UInt8,
        _ now: Instant
    ) -> Arrival {
        guard streams.isFull(caller, of: limit, now) else { return arrived(id, caller, urgency: urgency) }
        guard hasCapacity(for: caller) else { return .refuse }
        apart.append((id, caller, urgency))
        return .wait
    }

    /// Whether the answer to a request of the caller is taken for one that streams.
    package func isCautious(of caller: Caller, _ now: Instant) -> Bool { streams.isCautious(of: caller, now) }

    /// Whether the caller has as many permits with answers that stream as it may; who waits is told so.
    package func hasItsStreams(_ caller: Caller, _ now: Instant) -> Bool {
        streams.isFull(caller, of: limit, now)
    }

    package mutating func streamBegan(_ id: UInt64, _ caller: Caller, isEndless: Bool, _ now: Instant) {
        streams.began(id, caller, isEndless: isEndless, now)
    }

    /// An answer is over, and its permit comes back by itself.
    ///
    /// - Returns: those who are let in by that.
    package mutating func streamEnded(_ id: UInt64, _ now: Instant) -> [UInt64] {
        streams.ended(id)
        guard let index = apart.firstIndex(where: { !streams.isFull($0.caller, of: limit, now) }) else {
            return []
        }
        let next = apart.remove(at: index)
        line.join(next.id, next.caller, urgency: next.urgency)
        return admitted()
    }

    /// The answer that has to end, since a request of that caller waits for want of a permit.
    package mutating func recall(for caller: Caller, _ now: Instant) -> UInt64? {
        line.isEmpty || streams.isEmpty ? nil : streams.recall(for: caller, of: limit, now)
    }

    /// The same whoever waits.
    package mutating func recallForAnybody(_ now: Instant) -> UInt64? {
        if line.isEmpty || streams.isEmpty { return nil }
        for caller in line.waiting {
            if let id = streams.recall(for: caller, of: limit, now) { return id }
        }
        return nil
    }

    package func nextRecall(_ now: Instant) -> Instant? { streams.nextRecall(of: limit, now) }
}
