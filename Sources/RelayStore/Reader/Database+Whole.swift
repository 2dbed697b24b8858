import RelayBase
import RelayJobs
import RelayRecords

extension Database {
    /// The job with what belongs to it; `damaged` hears of each part that the rest can be told without.
    func whole(
        _ job: StoredJob,
        _ extent: WholeJob.Extent,
        damaged: (StoreError) -> Void
    ) throws(StoreError) -> WholeJob {
        let (id, seq) = (job.record.id, job.position)
        func isDamaged(_ read: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
            do throws(StoreError) {
                try read()
                return false
            } catch {
                guard error.code == .corrupt else { throw error }
                damaged(error)
                return true
            }
        }
        let first = max(0, job.attempts - extent.attempts)
        var whole = WholeJob(job, try attempts(of: id, at: seq, after: first, limit: extent.attempts))
        _ = try isDamaged { () throws(StoreError) in whole.actions = try actions(seq) }
        if extent.hasAnswer(of: job) {
            whole.hasDamagedAnswer = try isDamaged { () throws(StoreError) in whole.answer = try answer(seq) }
        }
        if extent.hasBodies {
            whole.hasDamagedBody = try isDamaged { () throws(StoreError) in whole.body = try payload(seq).body
            }
        }
        return whole
    }

    func attempts(
        of id: JobID,
        at seq: Int64,
        after number: Int,
        limit: Int
    ) throws(StoreError) -> [Attempt] {
        let select = try statement(
            "SELECT key, record FROM attempt WHERE key > ? AND key <= ? ORDER BY key LIMIT ?"
        )
        select.bind(1, AttemptKey.make(seq, max(0, number)))
        select.bind(2, AttemptKey.make(seq, .max))
        select.bind(3, Int64(limit))
        defer { select.reset() }
        var found: [Attempt] = []
        while try select.step() {
            guard let attempt = try? Attempt(sealed: select.bytes(1), at: select.int(0)) else {
                throw .damaged("an attempt", "\(id)")
            }
            found.append(attempt)
        }
        if found.isEmpty, number < 1, limit > 0, let ended = try ended(seq) {
            return [ended.attempt]
        }
        return found
    }
}
