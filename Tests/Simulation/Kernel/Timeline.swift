import RelayTestSupport

/// The virtual clock and everything that waits for it, in the order of time and then of coming.
final class Timeline {
    enum Wake {
        case sleeper(Sleeper)
        case call(() -> Void)
    }

    private struct Entry: Comparable {
        let at: Int64
        let order: UInt64
        let wake: Wake

        static func < (left: Entry, right: Entry) -> Bool { (left.at, left.order) < (right.at, right.order) }
        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    }

    /// The start by the calendar, in milliseconds since 1970: a second with a fraction.
    private static let wallStart: Int64 = 1_800_000_000_250

    private(set) var now: Int64 = 0
    /// Sleepers nobody has woken.
    var sleeping = 0
    private var heap = Heap<Entry>()
    private var order: UInt64 = 0

    /// The calendar's time at that moment.
    static func wall(at moment: Int64) -> Int64 { wallStart + moment / 1_000_000 }

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

    /// Moves the clock to the next who waits, and wakes it; a sleeper that was woken already moves nothing.
    ///
    /// - Returns: whether anybody waited.
    func goOn() -> Bool {
        while let first = heap.popFirst() {
            if case .sleeper(let sleeper) = first.wake, !sleeper.isAsleep { continue }
            // After a leap some are late.
            now = max(now, first.at)
            switch first.wake {
            case .sleeper(let sleeper): if sleeper.wake(true) { sleeping -= 1 }
            case .call(let body): body()
            }
            return true
        }
        return false
    }

    /// Nothing happens until then: whoever waits for an earlier moment is woken late.
    func leap(to moment: Int64) { now = max(now, moment) }
}
