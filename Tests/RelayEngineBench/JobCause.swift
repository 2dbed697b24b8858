package import RelayBase
package import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

/// The events that may happen to a kept job.
package enum JobCause: CaseIterable, Sendable {
    case delivered, failed, retried, heldByRule, pausedByRule, resumed, expired, superseded, crashed
    case cancelled, cancelledAsItRuns, cancelledWithOthers, held, released, retriedByOperator, dropped,
        expunged

    /// A bench where it can happen, for those who listen; `after` is the process that crashed.
    package func bench(_ listeners: [any JobListener], after: DurableBench? = nil) -> DurableBench {
        let sent = Counter()
        return DurableBench(
            after: after,
            listeners: listeners,
            { policy in
                switch self {
                case .failed, .retriedByOperator, .expunged: policy.recovery = []
                case .heldByRule:
                    policy.recovery = [RecoveryRule(name: "h", on: FailureMatcher([.any]), action: .hold)]
                case .pausedByRule, .resumed:
                    policy.recovery = [
                        RecoveryRule(
                            name: "p",
                            on: FailureMatcher([.any]),
                            action: .pauseRoute(reason: "it is ill")
                        )
                    ]
                default: break
                }
            },
            answer: { _ in
                switch self {
                case .cancelledAsItRuns, .crashed: .hold
                case .failed, .retriedByOperator, .expunged: .answer(400)
                case .retried, .heldByRule, .pausedByRule: .answer(503)
                case .resumed: sent.next() == 0 ? .answer(503) : .answer(200)
                default: .answer(200)
                }
            }
        )
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    /// Brings a job to where the cause meets it.
    package func prepare(_ bench: DurableBench) async throws -> JobID {
        switch self {
        case .delivered, .failed, .retried, .heldByRule, .pausedByRule: return try await bench.submit()
        case .resumed, .cancelledAsItRuns:
            try await bench.start()
            return try await bench.submit()
        case .crashed:
            try await bench.start()
            return try await bench.submit(method: .post)
        case .retriedByOperator, .expunged:
            try await bench.start()
            let id = try await bench.submit()
            try await bench.job(id, is: .dead)
            try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
            return id
        case .expired, .superseded, .cancelled, .cancelledWithOthers, .held, .released, .dropped:
            try await bench.start()
            try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
            let id = try await bench.submit([
                ("Waystation-Expires-After", "5s"), ("Waystation-Supersede-Key", "\"k\""),
            ])
            if self == .released { _ = try await bench.jobs.operations.act(.hold, on: id, by: 0) }
            return id
        }
    }

    /// Has it happen.
    package func act(on id: JobID, _ bench: DurableBench) async throws {
        let operations = bench.jobs.operations
        switch self {
        case .delivered, .failed, .retried, .heldByRule, .pausedByRule, .crashed: try await bench.start()
        case .resumed: try await bench.jobs.pauses.resume("hooks")
        case .expired: await bench.eventually { !bench.ends.isEmpty }
        case .superseded:
            let newer = try await bench.submit([("Waystation-Supersede-Key", "\"k\"")])
            // It has come for the one that went.
            _ = try await operations.act(.drop, on: newer, by: 0)
        case .cancelled, .cancelledAsItRuns: _ = try await operations.act(.cancel, on: id, by: 0)
        case .cancelledWithOthers:
            let order = ActionOrder(.cancel, JobFilter(), limit: 9, by: .user(0, isBulk: true))
            _ = try await operations.act(order)
        case .held: _ = try await operations.act(.hold, on: id, by: 0)
        case .released: _ = try await operations.act(.release, on: id, by: 0)
        case .retriedByOperator: _ = try await operations.act(.retry, on: id, by: 0)
        case .dropped: _ = try await operations.act(.drop, on: id, by: 0)
        case .expunged: _ = try await operations.act(.expunge, on: id, by: 0)
        }
    }
}
