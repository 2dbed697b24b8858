import RelayBase
import RelayInterface
import RelayJSON

/// A job of the API, with its words made safe for a terminal.
struct JobDocument {
    let job: Job

    init(_ json: JSONValue) { job = Job(json) ?? Job() }

    var id: String { shown(job.id) }
    var route: String { shown(job.route) }
    var state: String { shown(job.stateWord) }
    var end: String? { job.end.map(safe) }
    /// Why it waits, or why it is over.
    var reason: String? {
        if !isOver, let blocker = job.blocker?.reason, blocker != "due", blocker != "running" {
            return safe(blocker)
        }
        return job.reason.map(safe) ?? end.flatMap { $0 == state ? nil : $0 }
    }
    /// `http_status 401`: the kind of the last failure, and the answer's status where there was one.
    var failureKind: String? {
        guard let failure = job.lastFailure else { return nil }
        return safe(failure.kind) + (failure.status.map { " \($0.rawValue)" } ?? "")
    }

    var isOver: Bool { Job.State(rawValue: job.stateWord)?.isOver ?? false }

    /// Whether it goes on by itself when it is due: what is held, or waits for something without a date, does not.
    var hasNextAttempt: Bool {
        let isDateless = ["route_paused", "route_removed", "ordering"].contains(job.blocker?.reason)
        return !isOver && state != "held" && !isDateless
    }

    /// `2/8`, or `9` when nobody says how many there may be, or another life has added to them.
    var attempts: String {
        guard let limit = job.maxAttempts, attemptCount <= limit else { return String(attemptCount) }
        return "\(attemptCount)/\(limit)"
    }

    var attemptCount: Int { job.attemptCount }

    var request: String { "\(shown(job.request.method ?? "")) \(shown(job.request.path ?? ""))" }

    var labels: String { safe(job.labels.joined(separator: " ")) }

    /// `retrying (backoff)`, `dead (exhausted, no rule acts on it)`.
    var stateAndReason: String {
        reason.map { "\(state) (\($0)\(wasExhaustedByNoRule ? ", no rule acts on it" : ""))" } ?? state
    }

    /// Whether it is dead because no rule of its route is for its failure.
    var wasExhaustedByNoRule: Bool { job.end == "exhausted" && job.attempts.judged?.metNoRule == true }

    /// `http_status: the upstream answered 503`.
    var failure: String? {
        guard let failure = job.lastFailure else { return nil }
        return safe(failure.kind) + (failure.text.map { ": \(safe($0))" } ?? "")
    }

    private func shown(_ text: String) -> String { text.isEmpty ? "?" : safe(text) }
}

extension Job.Attempt {
    /// Whether it failed and no rule of the route was for it.
    var metNoRule: Bool {
        guard let kind, !["cancelled", "client_gone", "http_request_error", "preparation"].contains(kind)
        else { return false }
        // Of `hedge`, and no rule.
        return rule == nil && next == nil
            && heldBack.allSatisfy { $0.reason.hasPrefix("not sent a second time: ") }
    }
}

extension [Job.Attempt] {
    /// The last that was decided about: of two that were under way at once the one whose number is higher may have lost.
    var judged: Job.Attempt? { last { $0.next != "hedge" } }
}
