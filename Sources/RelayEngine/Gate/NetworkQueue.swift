/// The requests of one route that wait for the network, by their callers.
struct NetworkQueue {
    private var counts: [FairQueue.Caller: Int] = [:]
    private var total = 0

    /// A caller that is alone may have all of the room; where it is full, one that has less than its share still comes in.
    ///
    /// - Returns: whether there was room.
    mutating func joined(_ caller: FairQueue.Caller, room: Int) -> Bool {
        let own = counts[caller] ?? 0
        let callers = counts.count + (own == 0 ? 1 : 0)
        guard total < room || room > 0 && own < max(1, room / callers) else { return false }
        counts[caller] = own + 1
        total += 1
        return true
    }

    mutating func left(_ caller: FairQueue.Caller) {
        guard let own = counts[caller] else { return }
        counts[caller] = own > 1 ? own - 1 : nil
        total -= 1
    }
}
