import RelayBase
import RelayJobs
import RelayRecords

/// The plain jobs that one call claims: they share a row of `claimed`, which has its number before the first of them.
struct PlainClaims {
    var row: ClaimedRow
    var number: Int64?
}

extension StoreWriter {
    /// Claims the plain job that is the first of its queue.
    ///
    /// - Returns: false when it could not be, and is in the queue no more.
    func claimPlain(
        _ next: PlainLine.Job,
        _ lane: JobQueue,
        _ call: inout ClaimCall
    ) throws(StoreError) -> Bool {
        let now = now
        guard next.mark > now else {
            // It leaves the line in any case.
            if let old = try intact(next.seq), let row = try change(old, { $0.expire(now: now) }) {
                tell(row)
            }
            try passed(next.seq, call.route, lane)
            return false
        }
        guard !volatile.timeline.isDoubtful(next.mark) else {
            if let old = try intact(next.seq) { try postpone(old) }
            try passed(next.seq, call.route, lane)
            return false
        }
        guard let stored = try soundPlain(next.seq, call.route) else {
            try passed(next.seq, call.route, lane)
            return false
        }
        let begun = call.plainClaims.row.begun
        let number = call.plainClaims.number ?? plain.beginClaims(begun)
        call.plainClaims.number = number
        let token = volatile.nextToken
        volatile.nextToken += 1
        call.plainClaims.row.add(next.seq, token: token)
        var row = JobRow(stored)
        row.run(token: token, begun)
        plain.claimFirst(
            in: lane,
            next.seq,
            PlainJobs.Running(
                id: row.id,
                route: row.route,
                token: token,
                created: row.created,
                claim: number
            )
        )
        count(row.route, .queued, created: row.created, -1)
        count(row.route, .running, created: row.created, 1)
        call.batch.claims.append(
            Claim(
                token: ClaimToken(id: row.id, position: row.seq, number: token),
                job: row.job(stored.record, volatile.timeline),
                body: .bytes(stored.body)
            )
        )
        return true
    }

    /// A job that could not be claimed is in the line no more, or the next look would find it again.
    private func passed(_ seq: Int64, _ route: Int64, _ lane: JobQueue) throws(StoreError) {
        guard plain[route]?.first(in: lane)?.seq == seq else { return }
        try hidePlain(seq)
    }

    /// A plain job that waits; nil once what can be done about one that is damaged has been done.
    private func soundPlain(_ seq: Int64, _ route: Int64) throws(StoreError) -> PlainRow? {
        do throws(StoreError) {
            // One that was born running waits nowhere.
            guard let stored = try storedPlain(seq), stored.columns.route == route, stored.columns.token == 0,
                stored.record.route == routeNames[route]
            else { throw .damaged("the record", "number \(seq)") }
            return stored
        } catch {
            guard error.code == .corrupt else { throw error }
            shared.countCorrupt()
            try hidePlain(seq)
            return nil
        }
    }

    /// Puts the claims of a call on disk.
    func put(_ claims: PlainClaims) throws(StoreError) {
        guard let number = claims.number else { return }
        let reach = claims.row.reach
        let insert = try database.statement(
            "INSERT INTO claimed(n, low, high, sum, record) VALUES(?, ?, ?, ?, ?)"
        )
        insert.bind(1, number)
        insert.bind(2, reach.lowerBound)
        insert.bind(3, reach.upperBound)
        insert.bind(4, ClaimedRow.sum(number, reach))
        try insert.run(with: claims.row.sealed(at: number), at: 5)
    }
}
