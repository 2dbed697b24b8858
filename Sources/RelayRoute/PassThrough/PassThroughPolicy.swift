package import RelayBase

/// A route's part in passing requests through: where to, with what, and which answers are plain.
package final class PassThroughPolicy: Sendable {
    package let route: Route
    package let upstream: Upstream
    package let basePath: [UInt8]
    /// `?key=value`, where the route's requests carry parameters.
    package let query: [UInt8]
    package let edits: PassThroughEdits
    /// The credential that every request carries.
    package let credential: String?
    /// Nanoseconds.
    package let attempt: Int64
    package let idle: Int64
    /// How fast the content of an answer has to come whose length is known.
    package let floor: RateFloor
    package let usesTraffic: Bool
    /// Whether requests go to another upstream while the network is constrained.
    package let mayBeConstrained: Bool
    package let meter: UpstreamMeter?
    /// Whether an answer's type or content is looked into.
    private let inspects: Bool
    private let inspectLimit: Int
    /// By status, whether an answer is a success whatever its fields and content, by the kinds of requests.
    private let verdicts: InlineArray<600, UInt8>

    /// The kinds of requests that verdicts differ for.
    package static let usual: UInt8 = 1
    package static let conditional: UInt8 = 2
    /// Whether something would be done about a body that breaks off, and whether it is looked into.
    private static let mended: UInt8 = 4
    private static let judged: UInt8 = 8

    /// Whether such an answer to a request of that kind is a success, whatever else it says.
    @inline(__always)
    package func takes(_ status: Int, _ kind: UInt8) -> Bool {
        200..<600 ~= status && verdicts[status] & kind != 0
    }

    /// Whether such an answer's type and content are those of a success, too.
    @inline(__always)
    package func takes(_ answer: PassThroughAnswer, _ kind: UInt8) -> Bool {
        !inspects || !answer.isChunked && looksInto(answer, isConditional: kind == Self.conditional)
    }

    /// Whether content of that length, nil for one in chunks, may go to its caller before all of it has come.
    package func passesPieces(_ status: Int, length: Int?) -> Bool {
        guard !inspects else { return false }
        guard let length, length <= ResponseJudge.collectLimit else { return true }
        return verdicts[status] & Self.mended == 0
    }

    /// Whether content of that length is collected before its answer is passed on.
    package func collects(_ status: Int, length: Int) -> Bool {
        if verdicts[status] & Self.judged != 0 { return length <= inspectLimit }
        return verdicts[status] & Self.mended != 0 && length <= ResponseJudge.collectLimit
    }

    @inline(never)
    private func looksInto(_ answer: PassThroughAnswer, isConditional: Bool) -> Bool {
        guard !answer.isCoded else { return false }
        var fields = HeaderFields()
        if !answer.type.isEmpty, !route.policy.success.contentTypes.isEmpty {
            let type = unsafe UnsafeBufferPointer(
                start: answer.base + answer.type.lowerBound,
                count: answer.type.count
            )
            fields.append("Content-Type", unsafe String(decoding: type, as: UTF8.self))
        }
        let content = unsafe Span(
            _unsafeStart: answer.base + answer.body.lowerBound,
            count: answer.body.count
        )
        let judge = ResponseJudge(route: route, method: .get, isConditional: isConditional)
        return judge.passesOn(Status(rawValue: UInt16(truncatingIfNeeded: answer.status)), fields, content)
    }

    /// The verdicts are the judge's own.
    ///
    /// - Returns: nil where something has to be done to every request or answer of the route, its kept jobs included.
    package init?(_ route: Route, _ meters: [UpstreamMeter]) {
        let policy = route.policy
        edits = PassThroughEdits(route)
        guard PassThroughPolicy.reason(route, isKept: true) == nil,
            let query = PassThroughPolicy.query(policy)
        else { return nil }
        self.route = route
        inspects = route.inspectsBody || !policy.success.contentTypes.isEmpty
        self.query = query
        upstream = policy.upstreams[0]
        basePath = Array(upstream.basePath.utf8)
        credential = policy.authentication?.credential
        var verdicts = InlineArray<600, UInt8>(repeating: 0)
        for (kind, isConditional) in [(Self.usual, false), (Self.conditional, true)] {
            let judge = ResponseJudge(route: route, method: .get, isConditional: isConditional)
            for code in 200..<600 where PassThroughPolicy.takes(Status(rawValue: UInt16(code)), policy, judge)
            {
                verdicts[code] |= kind
            }
        }
        let judge = ResponseJudge(route: route, method: .get)
        inspectLimit = judge.inspectLimit
        for code in 200..<600 {
            let status = Status(rawValue: UInt16(code))
            if route.mendsBrokenBody(of: status) { verdicts[code] |= Self.mended }
            if judge.needsBody(status) { verdicts[code] |= Self.judged }
        }
        self.verdicts = verdicts
        attempt = min(policy.timeouts.attempt, policy.timeouts.total).saturatedNanoseconds
        idle = max(0, policy.timeouts.idle.saturatedNanoseconds)
        floor = RateFloor(policy.timeouts)
        usesTraffic = !policy.traffic.isOff
        mayBeConstrained = route.mindsNetwork
        meter = meters.first { [upstream] in $0.name == upstream.name }
    }

    private static func takes(_ status: Status, _ policy: RoutePolicy, _ judge: ResponseJudge) -> Bool {
        if policy.response.redirects == .follow && status.isRedirection && status != 304 { return false }
        // Of a route that looks into answers each is judged again when it is there.
        if judge.needsBody(status) || policy.success.statuses.contains(status) { return true }
        let body: Body = status.forbidsContent ? .empty : .bytes([0])
        let response = HTTPResponse(status: status, fields: HeaderFields(), body: body)
        let verdict = judge.judge(InboundResponse(response: response, exchange: Exchange()), wallSeconds: 0)
        if case .success = verdict { return true }
        return false
    }

    /// The reason that makes every request of the route an ordinary one, or every delivery of a kept job; nil without one.
    package static func reason(_ route: Route, isKept: Bool = false) -> OrdinaryReason? {
        let policy = route.policy
        if policy.request.wrap != nil || policy.signing != nil || route.asks {
            return .preparation
        }
        if !PassThroughEdits(route).isPlain || query(policy) == nil { return .edits }
        if policy.response.unwrap != nil || policy.limits.decodesContent { return .content }
        if route.answersStale || policy.response.keepsLastGood != nil { return .keeping }
        if !isKept, route.holdsHeads { return .content }
        if !isKept, route.hedges { return .preparation }
        if !isKept, route.keepsRequests || policy.delivery.mode == .durable { return .keeping }
        if policy.traffic.rateLimit != nil || policy.closed != nil { return .limits }
        if policy.limits.head < 16_384 || policy.limits.fieldCount < 64 { return .limits }
        return nil
    }

    /// Nil where a parameter's secret was not read.
    private static func query(_ policy: RoutePolicy) -> [UInt8]? {
        guard !policy.request.query.parameters.isEmpty else { return [] }
        return (try? policy.request.query.merged(into: "")).map { Array($0.utf8) }
    }
}
