import RelayBase
import RelayJobs

/// Plain jobs that were accepted lately, as they were written: neither a claim nor what follows need read them again.
///
/// The last thousand have a place, until they are over or plain no more.
struct AcceptedJobCache {
    /// On the heap, so that places without a job take next to nothing.
    private final class Job {
        let row: PlainRow

        init(_ row: PlainRow) { self.row = row }
    }

    private static let count = 1_024
    /// Bytes of a body and its fields that may stay in memory until their job is claimed, or a thousand others have come.
    private static let limit = 4_096

    private var jobs: [Job?] = []

    subscript(_ seq: Int64) -> PlainRow? {
        guard !jobs.isEmpty, let job = jobs[Self.slot(seq)], job.row.columns.seq == seq else { return nil }
        return job.row
    }

    mutating func add(_ row: PlainRow) {
        let record = row.record
        guard row.body.count + record.fields.storage.count + record.target.utf8.count <= Self.limit else {
            return
        }
        if jobs.isEmpty { jobs = Array(repeating: nil, count: Self.count) }
        jobs[Self.slot(row.columns.seq)] = Job(row)
    }

    mutating func remove(_ seq: Int64) {
        guard !jobs.isEmpty, jobs[Self.slot(seq)]?.row.columns.seq == seq else { return }
        jobs[Self.slot(seq)] = nil
    }

    mutating func removeAll() { jobs = [] }

    private static func slot(_ seq: Int64) -> Int { Int(truncatingIfNeeded: seq) & (count - 1) }
}
