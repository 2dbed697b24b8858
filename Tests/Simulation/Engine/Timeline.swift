/// Whatever has a clock of its own.
protocol Timed: AnyObject, SendableMetatype {
    var timeline: Timeline { get }
}

/// The virtual clock and everything that waits for it, in the order of time and then of coming.
final class Timeline {
    enum Wake {
        case sleeper(Sleeper)
        case arrival
        case cancellation(job: Int)
        case reload
        case network
        case call(() -> Void)
    }

    private struct Entry {
        let at: Int64
        let order: UInt64
        let wake: Wake

        func comes(before other: Entry) -> Bool { at != other.at ? at < other.at : order < other.order }
    }

    private(set) var now: Int64 = 0
    /// Sleepers nobody has woken.
    var sleeping = 0
    private var heap: [Entry] = []
    private var order: UInt64 = 0

    func add(_ wake: Wake, at: Int64) {
        order += 1
        heap.append(Entry(at: max(at, now), order: order, wake: wake))
        var child = heap.count - 1
        while child > 0, heap[child].comes(before: heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Whether somebody else waits for this very moment.
    func hasMoreNow() -> Bool {
        while let first = heap.first, first.at <= now {
            guard case .sleeper(let sleeper) = first.wake, !sleeper.isAsleep else { return true }
            removeFirst()
        }
        return false
    }

    /// Moves the clock to the next who waits; a sleeper that was woken already moves nothing.
    func next() -> Wake? {
        while let first = heap.first {
            removeFirst()
            if case .sleeper(let sleeper) = first.wake, !sleeper.isAsleep { continue }
            // After a leap some are late.
            now = max(now, first.at)
            return first.wake
        }
        return nil
    }

    /// Nothing happens until then: whoever waits for an earlier moment is woken late.
    func leap(to moment: Int64) { now = max(now, moment) }

    private func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].comes(before: heap[least]) {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
