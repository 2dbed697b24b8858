import RelayCore

/// Counts, for each route, what came of its jobs.
final class RouteTally: JobListener {
    private let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    func heard(_ event: JobEvent, at wall: Int64) {
        let report: JobReport
        switch event {
        case .ended(let ended): report = ended
        // One that was over before has been counted.
        case .changed(let changed) where !changed.state.isTerminal: report = changed
        default: return
        }
        engine.snapshot.state(of: report.route)?.count(report, wallSeconds: wall / 1000)
    }
}
