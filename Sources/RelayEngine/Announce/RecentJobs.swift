package import RelayCore
import Synchronization

/// What became of a request that was answered when it was done, and when that was.
package struct FinishedJob: Sendable {
    package let report: JobReport
    /// Milliseconds since 1970 UTC.
    package let finishedAt: Int64

    package init(_ report: JobReport, finishedAt: Int64) {
        self.report = report
        self.finishedAt = finishedAt
    }
}

/// The last jobs that finished without having been kept on disk, in memory: for `GET /v1/jobs/{id}`.
package final class RecentJobs: JobListener {
    private struct Ring {
        var records: [FinishedJob] = []
        var next = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    package init(capacity: Int) { self.capacity = capacity }

    package func heard(_ event: JobEvent, at wall: Int64) {
        guard case .ended(let report) = event, !report.isDurable else { return }
        let record = FinishedJob(report, finishedAt: wall)
        ring.withLock { ring in
            if ring.records.count < capacity {
                ring.records.append(record)
            } else {
                ring.records[ring.next] = record
                ring.next = (ring.next + 1) % capacity
            }
        }
    }

    package func find(_ id: JobID) -> FinishedJob? {
        ring.withLock { ring in ring.records.last { $0.report.id == id } }
    }
}
