package import RelayBase
package import RelayCore
import RelayJobs
import Synchronization

/// The last jobs that finished without having been kept on disk, in memory: for `GET /v1/jobs/{id}`.
package final class RecentJobs: JobListener {
    private struct Ring {
        /// Each with when that was, in milliseconds since 1970 UTC.
        var records: [(report: JobReport, finishedAt: Int64)] = []
        var next = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    package init(capacity: Int) { self.capacity = capacity }

    package func heard(_ event: JobEvent, at wall: Int64) {
        // One that goes on as a kept job is found on disk.
        guard case .ended(let report) = event, !report.isDurable, report.keptJob?.id != report.id else {
            return
        }
        ring.withLock { ring in
            if ring.records.count < capacity {
                ring.records.append((report, wall))
            } else {
                ring.records[ring.next] = (report, wall)
                ring.next = (ring.next + 1) % capacity
            }
        }
    }

    package func find(_ id: JobID) -> (report: JobReport, finishedAt: Int64)? {
        ring.withLock { ring in ring.records.last { $0.report.id == id } }
    }
}
