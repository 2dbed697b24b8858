/// Bounds how many requests of a route are with the upstream, and how many may wait.
///
/// Waiting requests are let in first come, first served.
package struct ConcurrencyMachine: Sendable {
    package private(set) var inFlight = 0
    private var limit: Int
    /// How many the upstream takes at once as far as that is known.
    package var width = Int.max
    private var maxPending: Int
    private var queue: [UInt64] = []
    private var head = 0
    private var waiting: Set<UInt64> = []
    /// Who looks for kept jobs and waits beside the others, in its turn among them, and takes none of their room: one, or
    /// two where a reload has taken the place of the first.
    private var beside: Set<UInt64> = []
    /// Permits, of those in flight, of which nobody knows yet whether there is a kept job for them.
    private var looking = 0

    package init(limit: Int, maxPending: Int) {
        self.limit = limit
        self.maxPending = maxPending
    }

    /// Requests that may be with the upstream now.
    private var most: Int { min(limit, max(1, width)) }

    /// Requests that wait.
    package var pending: Int { waiting.count - beside.count }

    package enum Arrival: Sendable {
        case admit
        case wait
        case refuse
    }

    /// One that `looks` for kept jobs waits however many do, and is none of the requests that wait.
    ///
    /// As many requests as those have permits wait beyond the bound, for they may give them back in a moment.
    package mutating func arrived(_ id: UInt64, looks: Bool = false) -> Arrival {
        if inFlight < most, waiting.isEmpty {
            inFlight += 1
            if looks { looking += 1 }
            return .admit
        }
        // Who waits for the window and not for the limit takes none of the room.
        guard looks || pending < maxPending + looking + (limit - most) else { return .refuse }
        waiting.insert(id)
        if looks { beside.insert(id) }
        queue.append(id)
        return .wait
    }

    /// Takes up to `count` free permits to look for as many kept jobs; there are none while anybody waits.
    package mutating func take(_ count: Int) -> Int {
        guard waiting.isEmpty else { return 0 }
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

    /// Those who wait and are let in now, in their order.
    private mutating func admitted() -> [UInt64] {
        var admitted: [UInt64] = []
        while inFlight < most, let next = nextWaiting() {
            inFlight += 1
            admitted.append(next)
        }
        return admitted
    }

    /// A request left the upstream, or one `looked` and there was no job; its permit goes to the first of those returned.
    ///
    /// There are more where the window has grown meanwhile.
    package mutating func left(looked: Bool = false) -> [UInt64] {
        if looked { looking -= 1 }
        inFlight -= 1
        return waiting.isEmpty ? [] : admitted()
    }

    private mutating func nextWaiting() -> UInt64? {
        while head < queue.count {
            let id = queue[head]
            head += 1
            if head > 64, head * 2 > queue.count {
                queue.removeFirst(head)
                head = 0
            }
            if beside.contains(id) { looking += 1 }
            if gaveUp(id) { return id }
        }
        return nil
    }

    /// A waiting request gave up.
    ///
    /// - Returns: false when it had been let in already: it then has a permit to give back.
    package mutating func gaveUp(_ id: UInt64) -> Bool {
        beside.remove(id)
        return waiting.remove(id) != nil
    }
}
