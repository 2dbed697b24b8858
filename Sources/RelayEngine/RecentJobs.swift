package import RelayCore
import Synchronization

/// What is kept of a finished job: enough to say what happened and why, no body and no field.
package struct FinishedJob: Sendable {
    package let context: JobContext
    package let source: Outcome.Source?
    package let status: Status?
    package let failure: Failure?
    package let attempts: [Attempt]
    /// Seconds since 1970.
    package let acceptedAt: Int64
    package let finishedAt: Int64
    /// Why the body was not kept for another attempt; nil when it was, or nobody could have wanted it.
    package let sentOnceBecause: String?

    package init(
        context: JobContext,
        outcome: Outcome,
        acceptedAt: Int64,
        finishedAt: Int64,
        sentOnceBecause: String? = nil
    ) {
        self.sentOnceBecause = sentOnceBecause
        self.context = context
        attempts = outcome.attempts
        self.acceptedAt = acceptedAt
        self.finishedAt = finishedAt
        switch outcome.ending {
        case .answered(let response, let source):
            self.source = source
            status = response.status
            failure = nil
        case .failed(let failure, let answer):
            source = answer == nil ? nil : .upstream
            status = answer?.status
            self.failure = failure
        }
    }
}

/// The last jobs that finished, in memory: for `GET /v1/jobs/{id}` until the store keeps them.
package final class RecentJobs: Sendable {
    private struct Ring {
        var records: [FinishedJob] = []
        var next = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    package init(capacity: Int) { self.capacity = capacity }

    package func keep(_ record: FinishedJob) {
        ring.withLock { ring in
            if ring.records.count < capacity {
                ring.records.append(record)
            } else {
                ring.records[ring.next] = record
                ring.next = (ring.next + 1) % capacity
            }
        }
    }

    package func find(_ id: String) -> FinishedJob? {
        ring.withLock { ring in ring.records.last { $0.context.id.description == id } }
    }
}
