import RelayCore
import RelayJobs

/// Counts, for each route, what came of its jobs.
final class RouteTally: JobListener {
    private let engine: Engine
    /// Where it counts.
    private let shard: Int

    init(_ engine: Engine, shard: Int) {
        self.engine = engine
        self.shard = shard
    }

    func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        // A job whose acceptance nobody was told of was never counted as accepted.
        case .ended(let report) where report.cause == .unawaited: break
        case .ended(let report): count(report, wall)
        // One that was over before has been counted.
        case .changed(let report) where !report.state.isTerminal: count(report, wall)
        case .accepted(let report): engine.snapshot.state(of: report.route)?.meter.accepted(shard: shard)
        case .dropped(let report) where !report.state.isTerminal:
            engine.snapshot.state(of: report.route)?.meter.dropped(shard: shard)
        case .breakerChanged(let route, let change): engine.snapshot.state(of: route)?.meter.count(change)
        case .credentialRefreshed, .credentialFailed, .notice: engine.tally.count(event)
        default: break
        }
    }

    private func count(_ report: JobReport, _ wall: Int64) {
        if let context = report.context {
            context.memory.count(report, shard: shard, wall: wall)
        } else {
            // A report from the store alone has no attempts.
            engine.snapshot.state(of: report.route)?.meter.count(report, shard: shard, wall: wall)
        }
    }
}
