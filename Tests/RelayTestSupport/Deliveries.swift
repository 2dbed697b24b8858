package import RelayBase
package import RelayCore
package import RelayJobs
package import RelayRoute

extension Delivery {
    /// The ending in a few words.
    package var words: String {
        let pause = pauseReason.map { "paused: \($0)" }
        return switch ending {
        case .succeeded: "succeeded \(report.status?.rawValue ?? 0) \(report.source?.rawValue ?? "")"
        case .dead(let reason): "dead \(reason.rawValue)" + (pause.map { ", \($0)" } ?? "")
        case .expired: failure == nil ? "expired untried" : "expired"
        case .retry(let wait, _): "retry \(wait)"
        case .requeued(_, let reason): "back \(reason?.name ?? "now")"
        case .held: pause ?? "held"
        case .cancelled: "cancelled"
        }
    }

    package var answerText: String? {
        guard case .bytes(let bytes)? = answer?.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JobHistory {
    /// The history that the next run brings along after this one.
    package func carried(_ delivery: Delivery) -> JobHistory {
        var next = self
        next.isInDoubt = isInDoubt || delivery.isUncertain
        for attempt in delivery.attempts {
            next.attempts += 1
            if attempt.isSpent { next.spentAttempts += 1 }
            next.count(attempt)
        }
        return next
    }
}

extension Bench {
    /// Runs a durable job again and again, as a store would, until it is over or put aside.
    package func deliverToTheEnd(
        _ method: Method = .get,
        on route: Route,
        fields: HeaderFields = HeaderFields(),
        body: Body = .empty
    ) async -> [Delivery] {
        var history = JobHistory()
        var runs: [Delivery] = []
        while runs.count < 50 {
            let run = await deliver(method, on: route, history, fields: fields, body: body)
            runs.append(run)
            guard case .retry(let wait, _) = run.ending else { break }
            time.advance(by: wait)
            history = history.carried(run)
        }
        return runs
    }
}
