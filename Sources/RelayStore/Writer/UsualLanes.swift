import RelayBase
import RelayJobs

/// The lanes that jobs of one route wait in that are not plain, with what the writer knows of each: after a transaction
/// that has never been it is found anew.
struct UsualLanes {
    private struct Known {
        let lane: JobLane
        /// No job of the lane is due before it.
        var due: Int64
        /// Whether one is due then.
        var isExact = true
    }

    /// In their order: those of a party are neighbours.
    private var lanes: [Known] = []

    /// A job waits in the lane.
    mutating func add(_ lane: JobLane, due: Int64) {
        let index = place(of: lane)
        guard index < lanes.count, lanes[index].lane == lane else {
            return lanes.insert(Known(lane: lane, due: due), at: index)
        }
        guard due <= lanes[index].due else { return }
        (lanes[index].due, lanes[index].isExact) = (due, true)
    }

    /// A job waits in the lane no more.
    mutating func lost(_ lane: JobLane) {
        // Where it was accepted before there were turns, that was another one.
        for lane in [lane, lane.beforeTurns] {
            let index = place(of: lane)
            if index < lanes.count, lanes[index].lane == lane { lanes[index].isExact = false }
        }
    }

    /// The first job of the lane is due then; nil where none waits.
    mutating func found(_ lane: JobLane, due: Int64?) {
        let index = place(of: lane)
        guard index < lanes.count, lanes[index].lane == lane else {
            if let due { lanes.insert(Known(lane: lane, due: due), at: index) }
            return
        }
        if let due {
            (lanes[index].due, lanes[index].isExact) = (due, true)
        } else {
            lanes.remove(at: index)
        }
    }

    /// The lane of which a job may be due before all others, and when; whether one is, in the third place.
    var first: (lane: JobLane, due: Int64, isExact: Bool)? {
        lanes.min { $0.due < $1.due }.map { ($0.lane, $0.due, $0.isExact) }
    }

    /// How many lanes may have a job that is due by then.
    func count(by now: Int64) -> Int { lanes.count { $0.due <= now } }

    /// The next party behind that one that may have a job that is due by then.
    func party(behind party: ClaimTurns.Party, by now: Int64) -> ClaimTurns.Party? {
        lanes[place(of: JobLane(party + 1, 0))...].first { $0.due <= now }?.lane.party
    }

    /// The lanes of a party that may have a job that is due by then.
    func lanes(of party: ClaimTurns.Party, by now: Int64) -> [JobLane] {
        lanes[place(of: JobLane(party, 0))...].prefix { $0.lane.party == party }.filter { $0.due <= now }
            .map(\.lane)
    }

    private func place(of lane: JobLane) -> Int {
        var (low, high) = (0, lanes.count)
        while low < high {
            let middle = low + (high - low) / 2
            if lanes[middle].lane.value < lane.value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension StoreWriter {
    /// Finds the lanes of a route, where that has not been done.
    func findLanes(_ route: Int64) throws(StoreError) {
        guard usual[route] == nil else { return }
        var lanes = UsualLanes()
        let select = try database.statement(
            "SELECT lane, run_at FROM job WHERE route = ? AND lane > ? ORDER BY lane, run_at LIMIT 1"
        )
        var last: Int64 = -1
        while true {
            select.bind(1, route)
            select.bind(2, last)
            defer { select.reset() }
            guard try select.step() else { break }
            last = select.int(0)
            if last == JobRow.scheduledLane || last == JobRow.runningLane { continue }
            lanes.add(JobLane(value: last), due: select.int(1))
        }
        usual[route] = lanes
    }

    /// Takes note of where a job waits now, and that it waits where it did no more.
    func noteLane(_ row: JobRow?, before old: JobRow?) {
        let (lane, known) = (row?.waitingLane, old?.waitingLane)
        if let old, let known, known != lane || row?.machine.runAt != old.machine.runAt {
            usual[old.route]?.lost(known)
        }
        if let row, let lane { usual[row.route]?.add(lane, due: row.machine.runAt) }
    }

    /// When the first waiting job of a route that is not plain, or is scheduled, is due, on the line.
    func nextDue(_ route: Int64) throws(StoreError) -> Int64? {
        try flushDue()
        try findLanes(route)
        while let first = usual[route]?.first, !first.isExact {
            usual[route]?.found(first.lane, due: try firstDue(route, first.lane))
        }
        let scheduled = try database.nextScheduled(route)
        guard let first = usual[route]?.first else { return scheduled }
        return min(first.due, scheduled ?? .max)
    }

    private func firstDue(_ route: Int64, _ lane: JobLane) throws(StoreError) -> Int64? {
        let select = try database.statement(
            "SELECT run_at FROM job WHERE route = ? AND lane = ? ORDER BY run_at LIMIT 1"
        )
        select.bind(1, route)
        select.bind(2, lane.value)
        return try select.numbers().first
    }

    /// Jobs that one step gives their lanes.
    private static let turnedAtOnce: Int64 = 512

    /// Gives jobs that were accepted before there were turns the lanes of their users, some in each step.
    func giveTurns() throws(StoreError) {
        let update = try database.statement(
            """
            UPDATE job SET lane = (coalesce(user, -1) + 2) << 4 | lane WHERE seq IN (
            SELECT seq FROM job INDEXED BY job_lane WHERE route IN (SELECT id FROM route) AND lane BETWEEN 0 AND 7 LIMIT ?)
            """
        )
        update.bind(1, Self.turnedAtOnce)
        try update.run()
        usual.removeAll()
        guard database.changes < Self.turnedAtOnce else { return }
        try database.execute("DELETE FROM meta WHERE k = 'unturned'")
        volatile.hasUnturned = false
    }
}
