import RelayJobs

/// The lines of a route in which jobs wait: one for each party and urgency.
///
/// It knows which lines may have something, and from which time on entries of each may be good, so that a claim does not
/// look through those that are claimed.
struct FleetLines {
    struct Line: Hashable, Sendable {
        var party: Int64
        var urgency: Int16
    }

    /// By line, the time before which it has no good entry.
    private(set) var low: [Line: Int64] = [:]
    private var turns = ClaimTurns()
    /// When all lines are to be looked for again, in monotonic milliseconds.
    var rescanAt: Int64 = 0

    /// Jobs of one claim at most.
    static let most = 1_000

    /// Something waits in the line that is due at `time`.
    mutating func wake(_ party: Int64, _ urgency: Int16, at time: Int64) {
        let line = Line(party: party, urgency: urgency)
        low[line] = min(low[line] ?? .max, time)
    }

    mutating func forget() { low = [:] }

    /// The lines to claim from, and how many jobs of each.
    struct Plan: Sendable {
        fileprivate(set) var lines: [Line] = []
        fileprivate(set) var counts: [Int] = []
        /// The time before which each line has no good entry.
        fileprivate(set) var lows: [Int64] = []
    }

    /// Shares `limit` claims among the lines as `ClaimTurns` has it, of which so many are made already; nil when nothing
    /// more is known to wait.
    func plan(_ limit: Int, found: [Line: Int] = [:]) -> Plan? {
        guard !low.isEmpty else { return nil }
        var (turns, left) = (turns, found)
        var plan = Plan()
        var positions: [Line: Int] = [:]
        for _ in 0..<limit {
            let line = Self.next(
                &turns,
                urgencies(of: Array(low.keys) + left.keys.filter { left[$0] ?? 0 > 0 })
            )
            if let count = left[line], count > 0 {
                left[line] = count - 1
            } else if let place = positions[line] {
                plan.counts[place] += 1
            } else {
                positions[line] = plan.lines.count
                plan.lines.append(line)
                plan.counts.append(1)
                plan.lows.append(low[line] ?? .min)
            }
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
                urgencies(of: Array(low.keys) + left.keys.filter { left[$0] ?? 0 > 0 })
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

    /// A claim has taken what it found in a line.
    mutating func settle(_ line: Line, isEmpty: Bool, low: Int64?) {
        if isEmpty {
            self.low[line] = nil
        } else if let low {
            self.low[line] = max(self.low[line] ?? .min, low)
        }
    }
}
