import RelayBase
import RelayJobs

extension RouteMemory {
    /// Takes up what a job of the route came to: one that is over, or one that waits for another attempt.
    ///
    /// `shard` is that of the loop it is told on; `wall` is in milliseconds since 1970 UTC.
    package func count(_ report: JobReport, shard: Int, wall: Int64) {
        // The common end of a request: an upstream's answer at the first attempt.
        var isPlain = report.state == .succeeded && report.isFromUpstream && !report.isAskedFor
        if report.cause == .run {
            for attempt in report.attempts {
                if attempt.failure != nil || attempt.next != nil || !attempt.heldBack.isEmpty {
                    isPlain = false
                }
                // One of an upstream that the configuration of before had is told of no more.
                if attempt.lookUp != nil { continue }
                upstreams.first { $0.name == attempt.upstream }?.count(attempt, shard: shard)
            }
        }
        meter.count(report, isPlain: isPlain, shard: shard, wall: wall)
    }
}
