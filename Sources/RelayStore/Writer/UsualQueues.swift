import RelayBase
import RelayJobs

/// The queues that jobs of one route wait in that are not plain, with what the writer knows of each: after a transaction
/// that has never been it is found anew.
struct UsualQueues {
    private struct Known {
        let queue: JobQueue
        /// No job of the queue is due before it.
        var due: Int64
        /// Whether one is due then.
        var isExact = true
    }

    /// In their order: those of a party are neighbours.
    private var queues: [Known] = []

    /// A job waits in the queue.
    mutating func add(_ queue: JobQueue, due: Int64) {
        let index = index(of: queue)
        guard index < queues.count, queues[index].queue == queue else {
            return queues.insert(Known(queue: queue, due: due), at: index)
        }
        guard due <= queues[index].due else { return }
        (queues[index].due, queues[index].isExact) = (due, true)
    }

    /// A job waits in the queue no more.
    mutating func lost(_ queue: JobQueue) {
        // Where it was accepted before there were turns, that was another one.
        for queue in [queue, queue.beforeTurns] {
            let index = index(of: queue)
            if index < queues.count, queues[index].queue == queue { queues[index].isExact = false }
        }
    }

    /// The first job of the queue is due then; nil where none waits.
    mutating func found(_ queue: JobQueue, due: Int64?) {
        let index = index(of: queue)
        guard index < queues.count, queues[index].queue == queue else {
            if let due { queues.insert(Known(queue: queue, due: due), at: index) }
            return
        }
        if let due {
            (queues[index].due, queues[index].isExact) = (due, true)
        } else {
            queues.remove(at: index)
        }
    }

    /// The queue of which a job may be due before all others, and when; whether one is, in the third place.
    var first: (queue: JobQueue, due: Int64, isExact: Bool)? {
        queues.min { $0.due < $1.due }.map { ($0.queue, $0.due, $0.isExact) }
    }

    /// How many queues may have a job that is due by then.
    func count(by now: Int64) -> Int { queues.count { $0.due <= now } }

    /// The next party behind that one that may have a job that is due by then.
    func party(behind party: ClaimTurns.Party, by now: Int64) -> ClaimTurns.Party? {
        queues[index(of: JobQueue(party + 1, 0))...].first { $0.due <= now }?.queue.party
    }

    /// The queues of a party that may have a job that is due by then.
    func queues(of party: ClaimTurns.Party, by now: Int64) -> [JobQueue] {
        queues[index(of: JobQueue(party, 0))...].prefix { $0.queue.party == party }.filter { $0.due <= now }
            .map(\.queue)
    }

    private func index(of queue: JobQueue) -> Int {
        var (low, high) = (0, queues.count)
        while low < high {
            let middle = low + (high - low) / 2
            if queues[middle].queue.value < queue.value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension StoreWriter {
    /// Finds the queues of a route, where that has not been done.
    func findQueues(_ route: Int64) throws(StoreError) {
        guard usual[route] == nil else { return }
        var queues = UsualQueues()
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
            if last == JobRow.scheduledQueue || last == JobRow.runningQueue { continue }
            queues.add(JobQueue(value: last), due: select.int(1))
        }
        usual[route] = queues
    }

    /// Takes note of where a job waits now, and that it waits where it did no more.
    func noteQueue(_ row: JobRow?, before old: JobRow?) {
        let (queue, known) = (row?.waitingQueue, old?.waitingQueue)
        if let old, let known, known != queue || row?.machine.runAt != old.machine.runAt {
            usual[old.route]?.lost(known)
        }
        if let row, let queue { usual[row.route]?.add(queue, due: row.machine.runAt) }
    }

    /// When the first waiting job of a route that is not plain, or is scheduled, is due, on the line.
    func nextDue(_ route: Int64) throws(StoreError) -> Int64? {
        try flushDue()
        try findQueues(route)
        while let first = usual[route]?.first, !first.isExact {
            usual[route]?.found(first.queue, due: try firstDue(route, first.queue))
        }
        let scheduled = try database.nextScheduled(route)
        guard let first = usual[route]?.first else { return scheduled }
        return min(first.due, scheduled ?? .max)
    }

    private func firstDue(_ route: Int64, _ queue: JobQueue) throws(StoreError) -> Int64? {
        let select = try database.statement(
            "SELECT run_at FROM job WHERE route = ? AND lane = ? ORDER BY run_at LIMIT 1"
        )
        select.bind(1, route)
        select.bind(2, queue.value)
        return try select.numbers().first
    }

    /// Jobs that one step gives their queues.
    private static let turnedAtOnce: Int64 = 512

    /// Gives jobs that were accepted before there were turns the queues of their users, some in each step.
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
