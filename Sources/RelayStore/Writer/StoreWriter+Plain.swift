import RelayBase
import RelayJobs
import RelayRecords

/// Plain jobs: a row at their acceptance, a row at their success, and one for each call that claims some.
///
/// Any other change of one first makes it a row of `job` with all that goes with that (`unfold`, with `save`).
extension StoreWriter {
    func acceptPlain(
        _ offered: OfferedJob,
        _ bytes: [UInt8],
        route: Int64,
        at moment: JobMoment
    ) throws(StoreError) -> EnqueueResult {
        let seq = try takeSeq()
        var columns = PlainColumns(
            seq: seq,
            priority: offered.job.record.priority,
            user: offered.job.record.submitter?.user,
            route: route,
            runAt: now,
            created: moment.wall
        )
        columns.expiresAt = offered.job.expiresAfter.map { StoreClock.advance(latest, by: $0) }
        if case .after(let delay) = offered.job.due, case let time = StoreClock.advance(now, by: delay),
            time > now
        {
            columns.schedule(at: time)
        } else if let upstream = offered.job.upstream, offered.job.wait?.isGivenUp != true, !shared.isClosing,
            columns.expiresAt.map({ $0 > now }) ?? true, try !hasDue(route)
        {
            columns.run(token: volatile.nextToken, BegunAttempt(upstream: upstream, beganAt: moment.wall))
            volatile.nextToken += 1
        }
        let id = offered.job.record.id
        guard try insertID(id, seq) else { return .duplicate(id) }
        try insert(offered, bytes, columns)
        if columns.queue == JobRow.scheduledQueue {
            noteScheduled(columns)
            return .accepted
        }
        countOpen(seq, route, 1)
        guard columns.token != 0 else {
            count(route, .queued, created: columns.created, 1)
            plain.wait(
                seq,
                route: route,
                columns.waitingQueue,
                runAt: now,
                expiresAt: columns.expiresAt,
                created: columns.created
            )
            lately.add(PlainRow(columns, offered.job.record, bytes))
            noteReady(route, dueAt: now)
            return .accepted
        }
        count(route, .running, created: columns.created, 1)
        plain.run(
            seq,
            PlainJobs.Running(
                id: id,
                route: route,
                token: columns.token,
                created: columns.created,
                claim: 0
            )
        )
        return .running(ClaimToken(id: id, position: seq, number: columns.token))
    }

    private func noteScheduled(_ columns: PlainColumns) {
        count(columns.route, .scheduled, created: columns.created, 1)
        volatile.note(due: columns.runAt, in: PlainZone(columns.seq, route: columns.route))
        volatile.nextScheduled = min(volatile.nextScheduled, columns.runAt)
        if let first = volatile.firstDue[columns.route], columns.runAt < first {
            volatile.firstDue[columns.route] = columns.runAt
        }
        noteReady(columns.route, dueAt: .max)
    }

    private func insert(
        _ offered: OfferedJob,
        _ body: [UInt8],
        _ columns: PlainColumns
    ) throws(StoreError) {
        let insert = try database.statement(
            """
            INSERT INTO plain(seq, route, lane, run_at, expires, created, user, record)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        insert.bind(1, columns.seq)
        insert.bind(2, columns.route)
        insert.bind(3, columns.queue)
        insert.bind(4, columns.runAt)
        insert.bind(5, columns.expiresAt)
        insert.bind(6, columns.created)
        insert.bind(7, columns.user.map(Int64.init))
        record.removeAll()
        PlainRow.write(offered, body, columns, to: &record)
        try record.withBytes { (bytes) throws(StoreError) in try insert.run(with: bytes, at: 8) }
    }

    /// Settles a plain job that has succeeded at its first attempt; nil of everything else.
    func settlePlain(_ settlement: Settlement) throws(StoreError) -> Settlement.Answer? {
        let token = settlement.token
        guard let job = plain.running[token.position], job.token == token.number, job.id == token.id,
            EndedRow.fits(settlement)
        else { return nil }
        let now = latest
        let insert = try database.statement("INSERT INTO ended(seq, route, fin, record) VALUES(?, ?, ?, ?)")
        insert.bind(1, token.position)
        insert.bind(2, job.route)
        insert.bind(3, now)
        record.removeAll()
        EndedRow.write(settlement, at: token.position, route: job.route, now, to: &record)
        try record.withBytes { (bytes) throws(StoreError) in try insert.run(with: bytes, at: 4) }
        volatile.note(now, in: PlainZone(token.position, route: job.route))
        try closePlain(token.position, route: job.route)
        count(job.route, .running, created: job.created, -1)
        count(job.route, .succeeded, created: job.created, 1)
        return .applied(.succeeded, nil)
    }

    /// It waits or runs no more, or not as a plain job.
    func closePlain(_ seq: Int64, route: Int64) throws(StoreError) {
        countOpen(seq, route, -1)
        lately.remove(seq)
        let any = plain.running[seq]?.claim
        let last = plain.close(seq, route: route)
        guard let claim = options.fault == .losesClaims ? any : last else { return }
        let delete = try database.statement("DELETE FROM claimed WHERE n = ?")
        delete.bind(1, claim)
        try delete.run()
    }

    /// A plain job as it was accepted.
    func storedPlain(_ seq: Int64) throws(StoreError) -> PlainRow? {
        if let known = lately[seq] { return known }
        return try database.plain(seq)
    }

    /// A plain job as the open transaction has it.
    func plainRow(_ seq: Int64) throws(StoreError) -> JobRow? {
        guard let stored = try storedPlain(seq) else { return nil }
        var row = JobRow(stored)
        if let job = plain.running[seq] {
            if let begun = plain.claims[job.claim]?.begun { row.run(token: job.token, begun) }
        } else if let ended = try database.ended(seq) {
            row.end(ended)
        } else if row.machine.state != .scheduled, plain[row.route]?.open.contains(seq) != true {
            throw .damaged("the state", "number \(seq)")
        }
        return row
    }

    /// Makes all the rows of a plain job that others have, as it is now; nothing where that has been done.
    ///
    /// `findsDue` says that its zone is to be asked anew when the first of its jobs is due.
    func unfold(_ seq: Int64, findsDue: Bool = true) throws(StoreError) {
        guard var row = try plainRow(seq), let stored = try storedPlain(seq) else { return }
        row.isPlain = false
        if row.machine.state.isTerminal {
            if let ended = try database.ended(seq) {
                try put([ended.attempt], after: 0, of: seq, with: ended.answer)
            }
        } else if row.machine.state != .scheduled {
            try closePlain(seq, route: row.route)
        }
        try removePlain(seq)
        if row.machine.state == .scheduled, findsDue { try findDue(without: row) }
        try insertRow(row)
        try insertPayload(seq, stored.record, .bytes(stored.body))
        if row.machine.isAwaited, let first = volatile.firstDue[row.route] {
            volatile.firstDue[row.route] = min(first, row.machine.runAt)
        }
    }

    private func removePlain(_ seq: Int64) throws(StoreError) {
        for delete in [
            try database.statement("DELETE FROM plain WHERE seq = ?"),
            try database.statement("DELETE FROM ended WHERE seq = ?"),
        ] {
            delete.bind(1, seq)
            try delete.run()
        }
    }

    /// Removes a plain job that does not run, with everything about it but its idempotency key.
    func dropPlain(_ row: JobRow) throws(StoreError) {
        let isScheduled = row.machine.state == .scheduled
        if !row.machine.state.isTerminal, !isScheduled { try closePlain(row.seq, route: row.route) }
        try giveUpBodies(of: row.seq)
        try removePlain(row.seq)
        if isScheduled { try findDue(without: row) }
        try removeID(row.id)
        count(row, -1)
        volatile.hasErased = true
    }

    /// - Returns: false when there is a job with this id.
    func insertID(_ id: JobID, _ seq: Int64) throws(StoreError) -> Bool {
        let insert = try database.statement(
            "INSERT INTO id(id, seq) VALUES(?, ?) ON CONFLICT(id) DO NOTHING"
        )
        insert.bind(2, seq)
        try insert.run(with: id, at: 1)
        return database.changes > 0
    }

    func removeID(_ id: JobID) throws(StoreError) {
        let delete = try database.statement("DELETE FROM id WHERE id = ?")
        delete.bind(1, id)
        try delete.run()
    }
}
