/// One entry of a loop's timer heap: runs its action once, when its deadline has passed.
///
/// Confined to the loop. A connection keeps one for its life and moves it only when it fires too early, so
/// that the deadlines of ordinary traffic never touch the heap.
package class LoopTimer {
    /// Monotonic nanoseconds; meaningful while scheduled.
    package fileprivate(set) final var deadline: Int64 = .max
    /// Position in the heap; -1 when not scheduled.
    fileprivate final var index = -1
    /// Runs on the loop; may schedule the timer again.
    package final var action: () -> Void = {}

    init() {}

    package convenience init(_ action: @escaping () -> Void) {
        self.init()
        self.action = action
    }

    package final var isScheduled: Bool { index >= 0 }

    func fire() {
        action()
    }
}

/// A binary heap of timers by deadline: schedule, move and cancel in O(log n).
package struct TimerHeap {
    /// The deadline stands beside the reference so that sifting compares without following it.
    private struct Entry {
        var deadline: Int64
        var timer: LoopTimer
    }

    private var entries: [Entry] = []

    package init() {}

    /// The earliest deadline; nil when nothing is scheduled.
    package var earliest: Int64? { entries.first?.deadline }

    /// Schedules `timer`, or moves it when it is scheduled already.
    package mutating func schedule(_ timer: LoopTimer, at deadline: Int64) {
        timer.deadline = deadline
        let entry = Entry(deadline: deadline, timer: timer)
        if timer.index < 0 {
            timer.index = entries.count
            entries.append(entry)
            siftUp(timer.index)
        } else {
            let moved = timer.index
            entries[moved].deadline = deadline
            if !siftUp(moved) { siftDown(moved) }
        }
    }

    /// Takes `timer` out; nothing happens when it is not scheduled.
    package mutating func cancel(_ timer: LoopTimer) {
        let hole = timer.index
        guard hole >= 0 else { return }
        timer.index = -1
        let last = entries.removeLast()
        guard hole < entries.count else { return }
        entries[hole] = last
        last.timer.index = hole
        if !siftUp(hole) { siftDown(hole) }
    }

    /// Takes out the earliest timer when it is due.
    package mutating func popDue(_ now: Int64) -> LoopTimer? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        cancel(first.timer)
        return first.timer
    }

    /// - Returns: whether the entry moved.
    @discardableResult
    private mutating func siftUp(_ start: Int) -> Bool {
        var index = start
        let entry = entries[start]
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.deadline < entries[parent].deadline else { break }
            put(entries[parent], at: index)
            index = parent
        }
        guard index != start else { return false }
        put(entry, at: index)
        return true
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let entry = entries[start]
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { break }
            put(entries[child], at: index)
            index = child
        }
        if index != start { put(entry, at: index) }
    }

    private mutating func put(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entry.timer.index = index
    }
}
