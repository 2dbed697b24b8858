/// A world that has a clock of its own.
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

    private struct Entry: Comparable {
        let at: Int64
        let order: UInt64
        let wake: Wake

        static func < (left: Entry, right: Entry) -> Bool { (left.at, left.order) < (right.at, right.order) }
        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    }

    private(set) var now: Int64 = 0
    /// Sleepers nobody has woken.
    var sleeping = 0
    private var heap = Heap<Entry>()
    private var order: UInt64 = 0

    func add(_ wake: Wake, at: Int64) {
        order += 1
        heap.add(Entry(at: max(at, now), order: order, wake: wake))
    }

    /// Whether somebody else waits for this very moment.
    func hasMoreNow() -> Bool {
        while let first = heap.first, first.at <= now {
            guard case .sleeper(let sleeper) = first.wake, !sleeper.isAsleep else { return true }
            heap.popFirst()
        }
        return false
    }

    /// Moves the clock to the next who waits; a sleeper that was woken already moves nothing.
    func next() -> Wake? {
        while let first = heap.first {
            heap.popFirst()
            if case .sleeper(let sleeper) = first.wake, !sleeper.isAsleep { continue }
            // After a leap some are late.
            now = max(now, first.at)
            return first.wake
        }
        return nil
    }

    /// Nothing happens until then: whoever waits for an earlier moment is woken late.
    func leap(to moment: Int64) { now = max(now, moment) }
}
