import RelayCore

/// Jobs that were accepted lately and wait, as they were written: a claim need not read them again.
///
/// The last thousand have a place; what changes in any other way than by a claim loses it.
struct LatelyAccepted {
    /// On the heap, so that places without a job take next to nothing.
    final class Job {
        let row: JobRow
        let record: JobRecord
        let body: StoredBody

        init(_ row: JobRow, _ record: JobRecord, _ body: StoredBody) {
            self.row = row
            self.record = record
            self.body = body
        }
    }

    private static let count = 1_024
    /// Bytes of a body and its fields that may stay in memory until their job is claimed, or a thousand others have come.
    private static let limit = 4_096

    private var jobs: [Job?] = []

    subscript(_ seq: Int64) -> Job? {
        guard !jobs.isEmpty, let job = jobs[Self.place(seq)], job.row.seq == seq else { return nil }
        return job
    }

    mutating func add(_ row: JobRow, _ job: NewJob, now: Int64) {
        guard row.machine.isReady, row.machine.runAt <= now, case .bytes(let bytes) = job.body,
            bytes.count + job.record.fields.storage.count + job.record.target.utf8.count <= Self.limit
        else { return }
        if jobs.isEmpty { jobs = Array(repeating: nil, count: Self.count) }
        jobs[Self.place(row.seq)] = Job(row, job.record, job.body)
    }

    mutating func remove(_ seq: Int64) {
        if self[seq] != nil { jobs[Self.place(seq)] = nil }
    }

    mutating func removeAll() { jobs = [] }

    private static func place(_ seq: Int64) -> Int { Int(truncatingIfNeeded: seq) & (count - 1) }
}
