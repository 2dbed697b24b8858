import RelayBase
import RelayInterface
import RelayJSON
import RelayRoute

/// The attempts of jobs as a word on the upstreams of a route, in the form that the daemon's program reads.
struct RecordedAttempts {
    /// By the upstream: what any job would have met.
    private(set) var shared: [String: [JSONValue]] = [:]
    /// Attempts that say nothing of an upstream.
    private(set) var silent = 0
    /// Whether there are some of which something is not on record that matters to rules.
    private(set) var hasTimeouts = false
    private(set) var hasContent = false

    /// `route` is that of the other configuration.
    init(_ jobs: [Job], _ route: Route) {
        for job in jobs {
            for attempt in job.attempts where !attempt.isOfRequest {
                guard let point = attempt.point(route) else {
                    silent += 1
                    continue
                }
                shared[attempt.upstream, default: []].append(point)
                guard let kind = attempt.kind else { continue }
                if FailureGroup.timeout.contains(FailureKind(rawValue: kind)) { hasTimeouts = true }
                if attempt.status != nil, kind != FailureKind.httpStatus.rawValue { hasContent = true }
            }
        }
    }

    /// The attempts of a job at upstreams that did not like its request: they say nothing of others, and more of the job
    /// than those of others do.
    static func own(_ job: Job, _ route: Route) -> [String: [JSONValue]] {
        var own: [String: [JSONValue]] = [:]
        for upstream in Set(job.attempts.filter(\.isOfRequest).map(\.upstream)) {
            own[upstream] = job.attempts.filter { $0.upstream == upstream }.compactMap { $0.point(route) }
        }
        return own
    }
}

extension [String: [JSONValue]] {
    var json: JSONValue {
        .object(sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .array($0.value)) })
    }
}

extension Job.Attempt {
    /// Whether its failure is about the request and not about the upstream's health.
    fileprivate var isOfRequest: Bool {
        guard kind != nil, cause == FailureCause.request.rawValue else { return false }
        guard let status else { return false }
        return status.rawValue < 500 && ![408, 421, 425].contains(status.rawValue)
    }

    /// `[MOMENT, WORD, MILLISECONDS, SENT, STATUS]`; nil where it says nothing of an upstream.
    fileprivate func point(_ route: Route) -> JSONValue? {
        guard let startedAt, lookUp == nil, next != RelayBase.Attempt.Next.quickRecovery.name else {
            return nil
        }
        let ofRelay = [FailureCause.relay.rawValue, FailureCause.caller.rawValue]
        if let cause, ofRelay.contains(cause) { return nil }
        if let status, !(200...599).contains(status.rawValue) { return nil }
        func number(_ value: Int64) -> JSONValue { .number(JSONNumber(Int(value))) }
        let took = number((time ?? .zero).saturatedNanoseconds / 1_000_000)
        let at = number(startedAt.milliseconds)
        guard let kind else {
            guard result == Result.success.rawValue else { return nil }
            // A success is one again where the status still is.
            let isGood = status.map { route.policy.success.statuses.contains($0) } ?? true
            return .array([at, .string(isGood ? "ok" : String(status?.rawValue ?? 200)), took])
        }
        if kind == FailureKind.httpStatus.rawValue, let status {
            return .array([at, .string(String(status.rawValue)), took])
        }
        // A record of somebody's own may call a failure what the program takes for an answer.
        guard kind != "ok", Int(kind) == nil else { return nil }
        let how = JSONValue.string((sent.flatMap(Sent.init) ?? .unknown).rawValue)
        return .array([at, .string(kind), took, how] + (status.map { [number(Int64($0.rawValue))] } ?? []))
    }
}
