/// A route's part in passing requests through: where to, and which answers are plain.
@safe package final class PassThroughPolicy: @unchecked Sendable {
    package let upstream: Upstream
    package let basePath: [UInt8]
    /// By status: 1 where an answer is a success whatever its fields and content.
    package let verdicts: UnsafePointer<UInt8>
    private static let statusCount = 600
    /// Nanoseconds.
    package let attempt: Int64
    package let idle: Int64
    package let usesTraffic: Bool
    package let meter: UpstreamMeter?

    /// Nil where something has to be done to every request or answer of the route.
    ///
    /// The verdicts are the judge's own.
    package init?(_ route: Route, _ memory: RouteMemory) {
        let policy = route.policy
        guard PassThroughPolicy.isPlain(route) else { return nil }
        upstream = policy.upstreams[0]
        basePath = Array(upstream.basePath.utf8)
        let verdicts = UnsafeMutablePointer<UInt8>.allocate(capacity: PassThroughPolicy.statusCount)
        unsafe verdicts.initialize(repeating: 0, count: PassThroughPolicy.statusCount)
        let judge = ResponseJudge(route: route, method: .post)
        for code in 200..<PassThroughPolicy.statusCount {
            let status = Status(rawValue: UInt16(code))
            if status.forbidsContent || policy.response.redirects == .follow && status.isRedirection {
                continue
            }
            let response = HTTPResponse(status: status, fields: HeaderFields(), body: .bytes([0]))
            let verdict = judge.judge(
                InboundResponse(response: response, exchange: Exchange()),
                wallSeconds: 0
            )
            if case .success = verdict { unsafe verdicts[code] = 1 }
        }
        unsafe self.verdicts = UnsafePointer(verdicts)
        attempt = min(policy.timeouts.attempt, policy.timeouts.total).saturatedNanoseconds
        idle = max(0, policy.timeouts.idle.saturatedNanoseconds)
        usesTraffic = !policy.traffic.isOff
        meter = memory.upstreams.first { [upstream] in $0.name == upstream.name }
    }

    deinit { unsafe verdicts.deallocate() }

    /// Whether the ordinary path would send a request of the route as it came, and pass a success on as it came.
    private static func isPlain(_ route: Route) -> Bool {
        let policy = route.policy
        return policy.authentication == nil && policy.request.isPlain && policy.prepare.isEmpty
            && !policy.idempotency.generates && policy.signing == nil && route.constrainedUpstream == nil
            && !route.keepsRequests && !route.answersStale && policy.response.keepsLastGood == nil
            && !route.inspectsBody && policy.success.contentTypes.isEmpty && !policy.limits.decodesContent
            && policy.delivery.mode != .durable && policy.limits.head >= 16_384
            && policy.limits.fieldCount >= 64
    }
}

extension RequestRules {
    /// Whether a request goes to the upstream with its own fields, query and content.
    fileprivate var isPlain: Bool {
        setFields.isEmpty && removeFields.isEmpty && wrap == nil && query.parameters.isEmpty
    }
}
