import RelayBase
import RelayInterface
import RelayJSON
import RelayRoute

/// The attempts of jobs as a word on the upstreams of a route, in the form that the daemon's program reads.
struct RecordedAttempts {
    /// By the upstream: what any job would have met.
    private(set) var shared: [String: [JSONValue]] = [:]
    /// Whether there are some of which something is not on record that matters to rules.
    private(set) var hasTimeouts = false
    private(set) var hasContent = false
    /// Upstreams that the other configuration has elsewhere.
    private(set) var moved: Set<String> = []
    /// When attempts at an upstream began that came to a success, in milliseconds since 1970 UTC and their order.
    private var successes: [String: [Int64]] = [:]
    /// When attempts at an upstream began that failed in an outage of it, though each failure may be about its request.
    private var outages: [String: Set<Int64>] = [:]
    private let route: Route

    /// Jobs in a row, without a success between, whose 5xx are taken for the upstream's.
    static let jobsOfOutage = 3

    var hasOutages: Bool { !outages.isEmpty }

    /// Whether the route has a breaker, a budget or another protection that may hold attempts back.
    var isProtected: Bool { !route.policy.traffic.isOff }

    /// `route` is that of the other configuration.
    init(_ jobs: [Job], _ route: Route) {
        self.route = route
        let names = Set(route.policy.upstreams.map(\.name))
        findOutages(jobs, names)
        for job in jobs {
            for attempt in job.attempts where names.contains(attempt.upstream) {
                guard !attempt.isElsewhere(route) else {
                    moved.insert(attempt.upstream)
                    continue
                }
                guard let point = attempt.point(route) else { continue }
                if attempt.kind == nil, let at = attempt.startedAt?.milliseconds {
                    successes[attempt.upstream, default: []].append(at)
                }
                guard !isOfRequest(attempt) else { continue }
                shared[attempt.upstream, default: []].append(point)
                guard let kind = attempt.kind else { continue }
                if FailureGroup.timeout.contains(FailureKind(rawValue: kind)) { hasTimeouts = true }
                if attempt.status != nil, kind != FailureKind.httpStatus.rawValue { hasContent = true }
            }
        }
        for name in successes.keys { successes[name]?.sort() }
    }

    /// The attempts of a job itself, which count before those of others.
    func own(_ job: Job) -> [String: [JSONValue]] {
        var own: [String: [JSONValue]] = [:]
        for attempt in job.attempts where !attempt.isElsewhere(route) {
            guard let point = attempt.point(route) else { continue }
            own[attempt.upstream, default: []].append(point)
        }
        return own
    }

    /// Upstreams whose failures may be about the job's own request, so that what others met there says nothing of it: they
    /// did not like it, or failed before and after another was delivered.
    func alone(_ job: Job) -> Set<String> {
        var alone: Set<String> = []
        for (name, attempts) in Dictionary(grouping: job.attempts, by: \.upstream) {
            let failed = attempts.filter { $0.kind != nil && $0.sent != Sent.neverSent.rawValue }
            let moments = failed.compactMap { $0.startedAt?.milliseconds }
            let isOutlived = hasSuccess(name, between: moments.min(), and: moments.max())
            if isOutlived || failed.contains(where: isOfRequest) { alone.insert(name) }
        }
        return alone
    }

    /// Upstreams that refused the job's own request, as one that is not valid: they would at any time.
    func refused(_ job: Job) -> Set<String> {
        Set(job.attempts.filter { $0.status?.class == .clientError && $0.isOfRequest }.map(\.upstream))
    }

    /// Whether its failure is about the request and not about the upstream's health.
    private func isOfRequest(_ attempt: Job.Attempt) -> Bool {
        guard attempt.isOfRequest else { return false }
        guard let at = attempt.startedAt?.milliseconds else { return true }
        return outages[attempt.upstream]?.contains(at) != true || !attempt.isServerError
    }

    private mutating func findOutages(_ jobs: [Job], _ names: Set<String>) {
        var all: [String: [(at: Int64, job: Int, isGood: Bool)]] = [:]
        for (index, job) in jobs.enumerated() {
            for attempt in job.attempts where names.contains(attempt.upstream) && attempt.lookUp == nil {
                let isGood = attempt.result == Job.Attempt.Result.success.rawValue
                guard isGood || attempt.isOfRequest && attempt.isServerError, !attempt.isElsewhere(route),
                    let at = attempt.startedAt?.milliseconds
                else { continue }
                all[attempt.upstream, default: []].append((at, index, isGood))
            }
        }
        for (name, attempts) in all {
            let inOrder = attempts.sorted { ($0.at, $0.isGood ? 1 : 0) < ($1.at, $1.isGood ? 1 : 0) }
            for run in inOrder.split(whereSeparator: \.isGood)
            where Set(run.map(\.job)).count >= Self.jobsOfOutage {
                outages[name, default: []].formUnion(run.map(\.at))
            }
        }
    }

    private func hasSuccess(_ upstream: String, between first: Int64?, and last: Int64?) -> Bool {
        guard let all = successes[upstream], let first, let last else { return false }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle] < first { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low] < last
    }
}

extension [String: [JSONValue]] {
    var json: JSONValue {
        .object(sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .array($0.value)) })
    }
}

extension Job.Attempt {
    /// Milliseconds of an attempt that count at most.
    private static let longest: Int64 = 86_400_000

    /// Whether its failure alone may be about the request and not about the upstream's health.
    fileprivate var isOfRequest: Bool { kind != nil && cause == FailureCause.request.rawValue }

    fileprivate var isServerError: Bool { status?.class == .serverError }

    /// Whether it went to a port, or a numeric address, that is not the upstream's of that name.
    fileprivate func isElsewhere(_ route: Route) -> Bool {
        guard let address, let colon = address.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(address[address.index(after: colon)...]),
            case .tcp(let host, let its, _)? = route.policy.upstreams.first(where: { $0.name == upstream })?
                .origin
        else { return false }
        let isNumeric = host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
        return port != its || isNumeric && colon > address.startIndex && address[..<colon] != host
    }

    /// `[MOMENT, WORD, MILLISECONDS, SENT, STATUS]`, or `[MOMENT, "?"]` of a success that the route would look into; nil
    /// where it says nothing of an upstream.
    fileprivate func point(_ route: Route) -> JSONValue? {
        guard let startedAt, lookUp == nil, next != RelayBase.Attempt.Next.quickRecovery.name else {
            return nil
        }
        // How long it would have taken is not known.
        if next == RelayBase.Attempt.Next.hedge.name, kind == FailureKind.cancelled.rawValue { return nil }
        let ofRelay = [FailureCause.relay.rawValue, FailureCause.caller.rawValue]
        if let cause, ofRelay.contains(cause) { return nil }
        if let status, !(200...599).contains(status.rawValue) { return nil }
        func number(_ value: Int64) -> JSONValue { .number(JSONNumber(Int(value))) }
        let took = number(min((time ?? .zero).saturatedNanoseconds / 1_000_000, Self.longest))
        let at = number(startedAt.milliseconds)
        guard let kind else {
            guard result == Result.success.rawValue else { return nil }
            // A success is one again where the status still is, and nothing more is asked of it.
            let isGood = status.map { route.policy.success.statuses.contains($0) } ?? true
            if route.policy.looksInto(status, isGood: isGood) { return .array([at, .string("?")]) }
            return .array([at, .string(isGood ? "ok" : String(status?.rawValue ?? 200)), took])
        }
        if kind == FailureKind.httpStatus.rawValue, let status {
            // The file may take it for a success.
            if route.policy.success.statuses.contains(status),
                route.policy.looksInto(status, isGood: true)
            {
                return .array([at, .string("?")])
            }
            return .array([at, .string(String(status.rawValue)), took])
        }
        // A record of somebody's own may call a failure what the program takes for an answer.
        guard kind != "ok", kind != "?", Int(kind) == nil, kind.utf8.count <= 64 else { return nil }
        let how = JSONValue.string((sent.flatMap(Sent.init) ?? .unknown).rawValue)
        return .array([at, .string(kind), took, how] + (status.map { [number(Int64($0.rawValue))] } ?? []))
    }
}

extension RoutePolicy {
    /// Whether it looks at more of an answer than at its status.
    fileprivate func looksInto(_ status: Status?, isGood: Bool) -> Bool {
        if let apiError, status.map({ apiError.statuses.contains($0) }) ?? true { return true }
        return isGood
            && (inspectsBody && apiError == nil || success.inspectsBody || response.unwrap != nil
                || response.empty == .error || !success.contentTypes.isEmpty)
    }
}
