import RelayJobs

/// The lines of a route in which jobs wait: one for each party and urgency.
///
/// It knows which lines may have something, and from which time on entries of each may be good, so that a claim does not
/// look through those that are claimed. What is near lies in the slots that take what comes now, whose tables a claim can
/// name; what is far may lie in any.
struct FleetLines {
    struct Line: Hashable, Sendable {
        var party: Int64
        var urgency: Int16
    }

    /// From which time on a line may have good entries.
    private struct Marks {
        var near: Int64?
        /// `end` is the time after which nothing far is known.
        var far: (low: Int64, end: Int64)?

        var low: Int64? { if let near, let far { min(near, far.low) } else { near ?? far?.low } }

        mutating func wake(at low: Int64, end: Int64, isFar: Bool) {
            if isFar {
                far = (min(far?.low ?? .max, low), max(far?.end ?? .min, end))
            } else {
                near = min(near ?? .max, low)
            }
        }

        mutating func add(_ other: Marks) {
            if let low = other.near { wake(at: low, end: low, isFar: false) }
            if let far = other.far { wake(at: far.low, end: far.end, isFar: true) }
        }
    }

    private struct Knowledge {
        var marks = Marks()
        /// The same of that which has come since the last plan.
        var fresh = Marks()
        /// When it was last looked for what was committed late, in monotonic milliseconds.
        var backAt = Int64.min
    }

    private var known: [Line: Knowledge] = [:]
    private var turns = ClaimTurns()
    /// When all lines are to be looked for again, in monotonic milliseconds.
    var rescanAt: Int64 = 0
    /// When they were last looked for, by the database's clock.
    var lookedAt: Int64 = 0
    /// When they are to be looked through from the start, in monotonic milliseconds.
    var deepAt: Int64 = 0
    /// A time, by the database's clock, at which no entry was good.
    private var emptyAt = Int64.min
    /// When entries of longer before are looked through as well, and when all are, in monotonic milliseconds.
    private var (longAt, wholeAt): (Int64, Int64) = (0, 0)

    /// Jobs of one claim at most.
    static let most = 1_000
    /// Milliseconds for which an entry may be committed later than one that is due after it, beside how late it may be made.
    private static let slack = FleetStatements.Waiting.lateness + 100
    /// Milliseconds after which a line is looked at for such entries again, while it has more than is claimed.
    private static let back: Int64 = 50

    /// Milliseconds for which an entry that nobody here has heard of may be committed after it was due.
    static let unheard: Int64 = 2_000
    /// Milliseconds for which a transaction that puts in an entry may last, and below it those after which it is looked for.
    static let longest: Int64 = 60_000
    static let long: Int64 = 10_000
    /// Milliseconds after which entries are looked for that were committed later still, as when a standby was away.
    static let whole: Int64 = 300_000

    var isEmpty: Bool { known.isEmpty }

    /// From which time on entries may be good.
    ///
    /// While somebody reads the tables all entries stay there, and to look through those of an hour takes seconds.
    mutating func start(at steady: Int64) -> Int64 {
        if steady >= wholeAt { (wholeAt, emptyAt) = (steady + Self.whole, .min) }
        guard steady >= longAt else { return emptyAt.subtractingSaturating(Self.unheard) }
        longAt = steady + Self.long
        return emptyAt.subtractingSaturating(Self.longest)
    }

    /// From which time on entries are looked at for a figure: of those that were committed late it does not know.
    var low: Int64 { emptyAt.subtractingSaturating(Self.unheard) }

    /// No entry was good that `low` has told to look at and that was due before `time`.
    mutating func wasEmpty(before time: Int64) { emptyAt = max(emptyAt, time) }

    /// No entry was good that `start` has told to look at.
    mutating func wasEmpty(at time: Int64) { emptyAt = time }

    /// Entries were good: a claim looks through as much as who has found them.
    mutating func wasFound() { (longAt, deepAt, rescanAt) = (0, 0, 0) }

    /// Something waits in the line that is due at `time`.
    mutating func wake(_ line: Line, at time: Int64, isFar: Bool) {
        wake(line, from: time, to: time, isFar: isFar)
    }

    /// Something may wait in the line that is due within the two times.
    mutating func wake(_ line: Line, from low: Int64, to end: Int64, isFar: Bool) {
        known[line, default: Knowledge()].marks.wake(at: low, end: end, isFar: isFar)
        known[line, default: Knowledge()].fresh.wake(at: low, end: end, isFar: isFar)
    }

    /// Other lines than these have nothing, unless it has just come.
    mutating func keep(_ lines: Set<Line>) {
        known = known.filter { lines.contains($0.key) || $0.value.fresh.low != nil }
    }

    /// Nothing is known to wait.
    mutating func forget() { known = [:] }

    /// Other slots take what comes from now on: all that is near is far.
    mutating func turn(at now: Int64) {
        for (line, what) in known {
            guard let near = what.marks.near else { continue }
            known[line]?.marks.near = nil
            known[line]?.fresh.near = nil
            wake(line, from: near, to: now, isFar: true)
        }
    }

    /// The lines to claim from, and how many jobs of each.
    struct Plan: Sendable {
        /// Whether all slots are to be looked at.
        fileprivate(set) var isFar = false
        fileprivate(set) var lines: [Line] = []
        fileprivate(set) var counts: [Int] = []
        /// The time before which each line has no good entry.
        fileprivate(set) var lows: [Int64] = []
        /// Whether each is looked at for what was committed late.
        fileprivate var looksBack: [Bool] = []

        /// Half of it; nil of a single job.
        var half: Plan? {
            let sum = counts.reduce(0, +)
            guard sum > 1 else { return nil }
            var (half, left) = (self, sum / 2)
            for (index, count) in counts.enumerated() {
                half.counts[index] = min(count, left)
                left -= half.counts[index]
            }
            let lines = half.counts.count { $0 > 0 }
            half.lines.removeLast(counts.count - lines)
            half.counts.removeLast(counts.count - lines)
            half.lows.removeLast(counts.count - lines)
            half.looksBack.removeLast(counts.count - lines)
            return half
        }
    }

    /// Shares `limit` claims among the lines as `ClaimTurns` has it, of which so many are made already; nil when nothing
    /// more is known to wait.
    mutating func plan(_ limit: Int, found: [Line: Int] = [:], at steady: Int64) -> Plan? {
        guard !known.isEmpty else { return nil }
        var (turns, left) = (turns, found)
        var plan = Plan()
        var positions: [Line: Int] = [:]
        for _ in 0..<limit {
            let line = Self.next(
                &turns,
                urgencies(of: Array(known.keys) + left.keys.filter { left[$0] ?? 0 > 0 })
            )
            if let count = left[line], count > 0 {
                left[line] = count - 1
            } else if let index = positions[line] {
                plan.counts[index] += 1
            } else {
                positions[line] = plan.lines.count
                plan.lines.append(line)
                plan.counts.append(1)
            }
        }
        for line in plan.lines {
            let what = known[line] ?? Knowledge()
            let looksBack = steady.subtractingSaturating(what.backAt) >= Self.back
            let low = what.marks.low ?? .min
            plan.looksBack.append(looksBack)
            plan.lows.append(looksBack ? low.subtractingSaturating(Self.slack) : low)
            plan.isFar = plan.isFar || what.marks.far != nil
            known[line]?.fresh = Marks()
        }
        return plan.lines.isEmpty ? nil : plan
    }

    private func urgencies(of lines: [Line]) -> [Int64: UInt8] {
        lines.reduce(into: [:]) { $0[$1.party, default: 0] |= 1 << UInt8($1.urgency) }
    }

    private static func next(_ turns: inout ClaimTurns, _ due: [Int64: UInt8]) -> Line {
        let party = due.keys.filter { $0 > turns.last }.min() ?? due.keys.min() ?? 0
        let urgencies = due[party] ?? 1
        let urgency = turns.urgency(party, urgencies)
        turns.took(urgency, party, urgencies)
        return Line(party: party, urgency: Int16(urgency))
    }

    /// So many jobs of each line were claimed: their turns are over.
    ///
    /// - Returns: the lines of these jobs in the order of their turns.
    mutating func took(_ found: [Line: Int]) -> [Line] {
        var left = found
        var order: [Line] = []
        for _ in 0..<found.values.reduce(0, +) {
            var turns = turns
            let line = Self.next(
                &turns,
                urgencies(of: Array(known.keys) + left.keys.filter { left[$0] ?? 0 > 0 })
            )
            guard let count = left[line], count > 0 else { break }
            self.turns = turns
            left[line] = count - 1
            order.append(line)
        }
        for (line, count) in left.sorted(by: {
            ($0.key.party, $0.key.urgency) < ($1.key.party, $1.key.urgency)
        }) {
            order += repeatElement(line, count: count)
        }
        return order
    }

    /// A claim by the plan has taken what it found in a line, of which the last was due at `last`.
    mutating func settle(_ plan: Plan, _ index: Int, found: Int, last: Int64?, at steady: Int64) {
        let line = plan.lines[index]
        guard var what = known[line] else { return }
        if plan.looksBack[index] { what.backAt = steady }
        if found < plan.counts[index] {
            if plan.looksBack[index] {
                what.marks = plan.isFar ? Marks() : Marks(far: what.marks.far)
            } else {
                what.backAt = .min
            }
        } else if let last {
            if plan.isFar, let far = what.marks.far {
                what.marks.far = last > far.end ? nil : (last, far.end)
            }
            what.marks.near = last
        }
        what.marks.add(what.fresh)
        known[line] = what.marks.low == nil ? nil : what
    }
}
