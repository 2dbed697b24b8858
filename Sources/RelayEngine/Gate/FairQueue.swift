import RelayBase

/// Those who wait for a permit of one route, and whose turn it is.
///
/// Callers have their turns one after the other, whatever each of them has waiting, and kept jobs among them as one
/// more caller that comes at most every fourth time while requests wait. Of one caller's requests those of an urgency
/// have twice the turns of the next lower one; those of one urgency come in the order of their arrival.
///
/// | waiting | turns |
/// |---|---|
/// | user 1 with 100, user 2 with 3 | 1 2 1 2 1 2 1 1 1 … |
/// | user 1 with 100, kept jobs | kept 1 1 1 kept 1 1 1 … |
/// | users 1 to 5, kept jobs | 1 2 3 4 5 kept 1 2 3 4 5 kept … |
/// | one user, plenty of urgency 0, 3 and 7 | of 145 turns 128, 16 and 1 |
package struct FairQueue: Sendable {
    /// The party whose request waits.
    package enum Caller: Hashable, Sendable {
        case user(UInt32)
        /// Of a port, or where users are not told apart: all of them count as one.
        case unknown
        /// Nobody's request: the one that looks for jobs that are kept.
        case keptJobs
    }

    fileprivate struct Entry {
        var caller: Caller
        var urgency: UInt8
    }

    /// The waiting requests of one caller and one urgency.
    fileprivate struct UrgencyQueue {
        let urgency: UInt8
        /// Ids in the order of their arrival, also those that have given up.
        var ids = FirstInFirstOut<UInt64>()
        var count = 0
    }

    fileprivate struct Flow {
        var queues: [UrgencyQueue] = []
        var turns = UrgencyTurns()
        var count = 0
    }

    /// Turns of requests between two of kept jobs, at least; a round of more callers is longer.
    private static let betweenKept = 3

    private var entries: [UInt64: Entry] = [:]
    /// Everybody who has a place in `ring`, also those who have nothing waiting any more; and kept jobs, which have none.
    private var flows: [Caller: Flow] = [:]
    private var ring = FirstInFirstOut<Caller>()
    /// Turns of requests since the last one of kept jobs.
    private var sinceKept = Int.max
    /// Callers that have requests waiting.
    private(set) var callers = 0

    /// Whether nobody waits.
    var isEmpty: Bool { entries.isEmpty }
    /// Requests that wait.
    var requests: Int { entries.count - count(of: .keptJobs) }

    /// Callers that have something waiting, kept jobs among them.
    var waiting: [Caller] { flows.filter { $0.value.count > 0 }.map(\.key) }

    /// The user who has most requests waiting.
    var most: (user: UInt32, count: Int)? {
        flows.compactMap { caller, flow in
            if case .user(let user) = caller, flow.count > 0 { (user, flow.count) } else { nil }
        }.max { $0.count < $1.count }
    }

    func count(of caller: Caller) -> Int { flows[caller]?.count ?? 0 }

    /// `urgency` is that of RFC 9218: 0 comes first, 7 last.
    mutating func join(_ id: UInt64, _ caller: Caller, urgency: UInt8) {
        let urgency = min(urgency, 7)
        entries[id] = Entry(caller: caller, urgency: urgency)
        if caller != .keptJobs {
            if flows[caller] == nil { ring.append(caller) }
            if count(of: caller) == 0 { callers += 1 }
        }
        flows[caller, default: Flow()].join(id, urgency)
    }

    /// The one whose turn it is, who waits no longer.
    mutating func next() -> (id: UInt64, looks: Bool)? {
        if sinceKept >= max(FairQueue.betweenKept, callers) || callers == 0,
            let id = flows[.keptJobs]?.next(&entries)
        {
            sinceKept = 0
            return (id, true)
        }
        while let caller = ring.popFirst() {
            let id = flows[caller]?.next(&entries)
            if count(of: caller) > 0 { ring.append(caller) } else { flows[caller] = nil }
            guard let id else { continue }
            if flows[caller] == nil { callers -= 1 }
            if sinceKept < .max { sinceKept += 1 }
            return (id, false)
        }
        return nil
    }

    /// Somebody gave up.
    ///
    /// - Returns: false when that one does not wait.
    mutating func gaveUp(_ id: UInt64) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        // The caller keeps its place in the ring: coming and going brings no more turns.
        flows[entry.caller]?.gaveUp(entry.urgency, entries)
        if entry.caller != .keptJobs, count(of: entry.caller) == 0 { callers -= 1 }
        return true
    }
}

extension FairQueue.Flow {
    fileprivate mutating func join(_ id: UInt64, _ urgency: UInt8) {
        count += 1
        let index: Int
        if let found = queues.firstIndex(where: { $0.urgency == urgency }) {
            index = found
        } else {
            index = queues.count
            queues.append(FairQueue.UrgencyQueue(urgency: urgency))
        }
        queues[index].ids.append(id)
        queues[index].count += 1
    }

    fileprivate mutating func next(_ entries: inout [UInt64: FairQueue.Entry]) -> UInt64? {
        let waiting = queues.reduce(UInt8(0)) { $0 | 1 << $1.urgency }
        let urgency = turns.next(waiting)
        guard let index = queues.firstIndex(where: { $0.urgency == urgency }) else { return nil }
        while let id = queues[index].ids.popFirst() {
            guard entries.removeValue(forKey: id) != nil else { continue }
            turns.took(urgency, waiting)
            dropOne(from: index)
            return id
        }
        return nil
    }

    fileprivate mutating func gaveUp(_ urgency: UInt8, _ entries: [UInt64: FairQueue.Entry]) {
        guard let index = queues.firstIndex(where: { $0.urgency == urgency }) else { return }
        dropOne(from: index)
        guard index < queues.count, queues[index].urgency == urgency else { return }
        // Where nobody is let in, those who have given up would pile up.
        if queues[index].ids.count > 2 * queues[index].count + 64 {
            queues[index].ids.removeAll { entries[$0] == nil }
        }
    }

    private mutating func dropOne(from index: Int) {
        count -= 1
        queues[index].count -= 1
        if queues[index].count == 0 { queues.remove(at: index) }
    }
}

/// A queue whose front is taken without moving the rest each time.
private struct FirstInFirstOut<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            head += 1
            if head > 64, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    mutating func removeAll(where isOver: (Element) -> Bool) {
        elements = elements[head...].filter { !isOver($0) }
        head = 0
    }
}
