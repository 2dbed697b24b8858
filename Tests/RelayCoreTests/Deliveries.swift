import RelayCore
import RelayTestSupport

extension Delivery {
    /// The ending in a few words.
    var words: String {
        switch ending {
        case .succeeded(let response, let source): "succeeded \(response.status.rawValue) \(source.rawValue)"
        case .dead(_, let reason): "dead \(reason.rawValue)"
        case .expired(let failure): failure == nil ? "expired untried" : "expired"
        case .cancelled: "cancelled"
        case .retry(let wait, _): "retry \(wait)"
        case .back(let reason, _): "back \(reason?.name ?? "now")"
        case .held: "held"
        case .routePaused(let reason, _, nil): "paused: \(reason)"
        case .routePaused(let reason, _, let end?): "dead \(end.rawValue), paused: \(reason)"
        }
    }

    var failure: Failure? {
        switch ending {
        case .succeeded, .cancelled: nil
        case .dead(let failure, _), .retry(_, let failure), .back(_, let failure), .held(let failure),
            .routePaused(_, let failure, _):
            failure
        case .expired(let failure): failure
        }
    }

    var answerText: String? {
        guard case .bytes(let bytes)? = answer?.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JobHistory {
    /// What the next run brings along after this one.
    func carried(_ delivery: Delivery) -> JobHistory {
        var next = self
        for attempt in delivery.attempts {
            let record = JobAttemptRecord(attempt, wallNow: 0, now: Instant(nanoseconds: 0))
            next.attempts += 1
            if record.isSpent { next.spentAttempts += 1 }
            if let rule = record.rule { next.ruleUses[rule, default: 0] += 1 }
        }
        return next
    }
}

extension Bench {
    /// Runs a durable job again and again, as a store would, until it is over or put aside.
    func deliverToTheEnd(
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
