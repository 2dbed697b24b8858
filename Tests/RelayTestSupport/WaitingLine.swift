import RelayBase
import RelayJobs

/// The jobs of a route that a claim may take, now or later.
///
/// A job that has changed is still in it as it was before, which is of no account.
struct WaitingLine: Sendable {
    struct Lane: Hashable, Comparable {
        let party: ClaimTurns.Party
        let urgency: UInt8

        static func < (left: Lane, right: Lane) -> Bool {
            (left.party, left.urgency) < (right.party, right.urgency)
        }
    }

    struct Place: Comparable {
        let runAt: Int64
        let position: Int64
        let version: UInt64

        static func < (left: Place, right: Place) -> Bool {
            (left.runAt, left.position) < (right.runAt, right.position)
        }
    }

    var due: [Lane: Heap<Place>] = [:]
    var later = Heap<Place>()
}

extension MemoryJobStore.State {
    mutating func count(_ state: JobState, _ more: Int) { counts[state, default: 0] += more }

    /// Puts a job in the line of its route if a claim may take it.
    mutating func queue(_ position: Int64) {
        guard let entry = entries[position], entry.machine.isAwaited else { return }
        let (record, machine) = (entry.record, entry.machine)
        let place = WaitingLine.Place(runAt: machine.runAt, position: position, version: machine.version)
        if machine.isReady, machine.runAt <= timeline.now {
            let lane = WaitingLine.Lane(
                party: ClaimTurns.party(of: record.submitter?.user),
                urgency: record.urgency
            )
            lines[record.route, default: WaitingLine()].due[lane, default: Heap()].add(place)
        } else {
            lines[record.route, default: WaitingLine()].later.add(place)
        }
    }

    private func isCurrent(_ place: WaitingLine.Place) -> Bool {
        guard let machine = entries[place.position]?.machine else { return false }
        return machine.isAwaited && machine.version == place.version && machine.runAt == place.runAt
    }

    /// Wakes scheduled jobs that are due.
    mutating func wake() {
        for route in Array(lines.keys) { wake(route) }
    }

    private mutating func wake(_ route: String) {
        let now = timeline.now
        while let first = lines[route]?.later.first {
            let isCurrent = isCurrent(first)
            guard !isCurrent || first.runAt <= now else { return }
            lines[route]?.later.popFirst()
            if isCurrent, !change(first.position, { $0.wake(now: now) }) { queue(first.position) }
        }
    }

    /// Forgets lanes in which nothing waits.
    private mutating func prune(_ route: String) {
        guard var line = lines.removeValue(forKey: route) else { return }
        for lane in Array(line.due.keys) {
            while let first = line.due[lane]?.first, !isCurrent(first) { line.due[lane]?.popFirst() }
            if line.due[lane]?.first == nil { line.due[lane] = nil }
        }
        lines[route] = line
    }

    /// Whether a job of the route waits that is due.
    mutating func hasDue(_ route: String) -> Bool {
        wake()
        prune(route)
        return lines[route]?.due.isEmpty == false
    }

    /// The party whose turn it is, its urgencies that are due, and the job that goes.
    mutating func nextInTurn(
        _ route: String
    ) -> (party: ClaimTurns.Party, urgencies: UInt8, position: Int64)? {
        wake(route)
        prune(route)
        guard let lanes = lines[route]?.due.keys.sorted(), let lowest = lanes.first else { return nil }
        let turns = turns[route] ?? ClaimTurns()
        let party = lanes.first { $0.party > turns.last }?.party ?? lowest.party
        let urgencies = lanes.reduce(UInt8(0)) { $1.party == party ? $0 | 1 << $1.urgency : $0 }
        let lane = WaitingLine.Lane(party: party, urgency: UInt8(turns.urgency(party, urgencies)))
        return lines[route]?.due[lane]?.first.map { (party, urgencies, $0.position) }
    }

    /// When the first is due that is not; asked after a claim that has taken all others.
    func nextDue(_ route: String) -> Int64? {
        lines[route]?.later.first.map { timeline.wall(ofLine: $0.runAt) }
    }
}
