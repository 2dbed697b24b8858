package import RelayBase
import RelayRoute

// The judgement of an answer: steps 3 to 7 of the way of one attempt.
extension ExecutionMachine {
    /// Sends the attempt on to where a redirect leads, where the route follows it.
    mutating func follow(_ inbound: InboundResponse) -> Bool {
        guard context.route.policy.response.redirects == .follow, !isLookingUp,
            recovery.attempts[recovery.attempts.count - 1].redirects < Redirect.limit,
            let found = Redirect(
                inbound.response,
                to: redirect?.method ?? preparation.method,
                sentTo: sentTo,
                at: plan.upstream.origin
            )
        else { return false }
        let next = found.following(redirect)
        guard !next.keepsBody || preparation.body.isReplayable else { return false }
        notes.append(.dropped(inbound.response.body, wasKept: false))
        redirect = next
        recovery.redirected()
        return true
    }

    /// The answer with what of its body must be in memory before it can be judged; nil when it can be judged now.
    func collecting(_ inbound: InboundResponse) -> Collecting? {
        guard case .stream(let source) = inbound.response.body else { return nil }
        let (status, limit) = (inbound.response.status, context.route.policy.limits.body)
        if isLookingUp || judge.needsBody(status) {
            return Collecting(inbound: inbound, limit: judge.inspectLimit, key: judge.inspectKey)
        }
        if let rules = context.route.follow, rules.mayBegin(status) {
            if rules.needsContent {
                return Collecting(inbound: inbound, limit: judge.inspectLimit, key: judge.inspectKey)
            }
            let limit = min(limit, Int(ResponseJudge.collectLimit))
            return Collecting(inbound: inbound, limit: limit, beyond: .passesThrough)
        }
        if collectsAll { return Collecting(inbound: inbound, limit: limit) }
        if keepsAnswer(status) {
            let limit = min(LastGoodAnswers.answerLimit, limit)
            // An answer that is too large to be kept passes through, as it would without the cache.
            if source.length.map({ $0 > UInt64(limit) }) ?? false { return nil }
            return Collecting(
                inbound: inbound,
                limit: limit,
                beyond: source.length == nil ? .passesThrough : .fails
            )
        }
        // An answer that its caller is to have where a question comes to nothing.
        if inquiry != nil, !context.route.policy.success.statuses.contains(status),
            source.length.map({ $0 <= ResponseJudge.collectLimit }) ?? true
        {
            let limit = min(limit, Int(ResponseJudge.collectLimit))
            return Collecting(
                inbound: inbound,
                limit: limit,
                beyond: source.length == nil ? .passesThrough : .fails
            )
        }
        guard let length = source.length, length <= ResponseJudge.collectLimit,
            program != nil || context.route.mendsBrokenBody(of: status)
        else {
            let isHeld = context.route.holdsHeads && context.route.policy.success.statuses.contains(status)
            return isHeld ? Collecting(inbound: inbound, limit: limit, beyond: .heldHead) : nil
        }
        return Collecting(inbound: inbound, limit: Int(ResponseJudge.collectLimit))
    }

    private func keepsAnswer(_ status: Status) -> Bool {
        context.route.policy.response.keepsLastGood != nil && preparation.method == .get
            && context.route.policy.success.statuses.contains(status)
    }

    mutating func answered(_ inbound: InboundResponse, _ moment: Moment) {
        if isLookingUp {
            return questions?.follow == nil ? lookedUp(inbound, moment) : looked(inbound, moment)
        }
        if let rules = context.route.follow, begins(rules, inbound, moment) { return }
        guard program == nil else {
            step = .classify(inbound)
            return
        }
        judged(inbound, moment)
    }

    mutating func judged(_ inbound: InboundResponse, _ moment: Moment) {
        switch judge.judge(inbound, wallSeconds: moment.wallSeconds) {
        case .success(let response):
            if !context.route.isWithoutTraffic {
                feedback = AttemptFeedback(response, wallMilliseconds: moment.wall)
            }
            recovery.attemptSucceeded(
                at: moment.now,
                status: response.status,
                exchange: inbound.exchange
            )
            if canRefresh, let token { notes.append(.tokenAccepted(token.generation)) }
            accept(response, from: .upstream)
        case .quickRecovered(let response, let from):
            quickRecovered(response, from: from, inbound.response.fields, moment)
        case .refused(let failure): refused(failure, inbound, moment)
        case .invalid(var failure):
            if program != nil { failure.response = inbound.response }
            keepInvalid(inbound.response)
            note(failure, inbound.response.fields, moment)
        }
    }

    /// The answer is a failure by its status or its content.
    mutating func refused(_ failure: Failure, _ inbound: InboundResponse, _ moment: Moment) {
        guard program == nil else {
            step = .recover(failure, inbound.response)
            return
        }
        var response = outgoing(inbound.response)
        if failure.kind == .apiError, let status = judge.callerStatus(of: response) {
            response.status = status
        }
        answer = response
        note(failure, inbound.response.fields, moment)
    }

    /// The content of the answer did not come.
    mutating func cutOff(_ failure: Failure, _ inbound: InboundResponse, _ moment: Moment) {
        if context.route.follow != nil, begins(without: failure, inbound, moment) { return }
        var failure = failure
        failure.status = inbound.response.status
        let asked = RetryAfter.parse(inbound.response.fields, wallSeconds: moment.wallSeconds)
        failure.retryAfter = asked ?? failure.retryAfter
        failure.exchange = failure.exchange ?? inbound.exchange
        failure = judge.marked(failure, inbound.response.fields)
        attemptFailed(judge.refusing(failure, inbound.response.status), moment)
    }

    /// Quick recovery has made a success of a failure whose answer had those fields.
    mutating func quickRecovered(
        _ response: HTTPResponse,
        from failure: Failure,
        _ fields: HeaderFields?,
        _ moment: Moment
    ) {
        say(failure, fields, moment)
        recovery.quickRecovered(from: failure, at: moment.now)
        if let attempt = recovery.attempts.last { notes.append(.decided(attempt)) }
        accept(response, from: .quickRecovery)
    }

    /// Takes a success to the caller, by way of the program's own transform where there is one.
    mutating func accept(_ response: HTTPResponse, from maker: Maker) {
        guard program == nil else {
            step = .accept(response, maker)
            return
        }
        succeeded(response, maker)
    }

    /// The program took the answer.
    package mutating func accepted() {
        guard case .accept(let response, let maker) = step else { return }
        succeeded(response, maker)
    }

    /// The program did not take the answer.
    package mutating func notAccepted(_ failure: Failure, _ moment: Moment) {
        guard case .accept(let response, let maker) = step else { return }
        if case .standIn = maker { return ended(failure, moment) }
        let isQuickRecovered = maker != .upstream
        var failure = failure
        failure.status = failure.status ?? response.status
        failure.response = failure.response ?? response
        failure.exchange = recovery.attempts.last?.exchange
        failure.sent = isQuickRecovered ? recovery.attempts.last?.sent ?? .answered : .answered
        failure.retryAfter = RetryAfter.parse(response.fields, wallSeconds: moment.wallSeconds)
        // After a quick recovery a failed transform is final: no rule is asked.
        isQuickRecovered ? ended(failure, moment) : note(failure, response.fields, moment)
    }

    mutating func succeeded(_ response: HTTPResponse, _ maker: Maker) {
        if case .stream = response.body { answersByStream = true }
        switch maker {
        case .upstream:
            let response = outgoing(response)
            if response.status != 304 { keep(response) }
            step = .end(.answered(response, .upstream))
        // An answer that a rule has made of a failure is the route's own.
        case .quickRecovery: step = .end(.answered(response, .upstream))
        case .verified: step = .end(.answered(response, .verified))
        case .followed: step = .end(.answered(response, .followed))
        case .begun: step = .end(.answered(response, .begun))
        case .standIn(let standIn): step = .end(.answered(response, AnswerSource(standIn)))
        }
    }

    private mutating func keep(_ response: HTTPResponse) {
        guard context.route.policy.response.keepsLastGood != nil, !isLight,
            let key = asked.flatMap(AnswerKey.init)
        else { return }
        if case .stream = response.body { return }
        notes.append(.answered(response, key))
    }
}

extension ExecutionMachine.Maker {
    /// Whether the answer is the upstream's own, of which no rule has made another.
    var isUpstream: Bool {
        switch self {
        case .upstream, .verified, .followed, .begun: true
        case .quickRecovery, .standIn: false
        }
    }
}

extension AnswerSource {
    fileprivate init(_ standIn: StandIn) {
        switch standIn {
        case .fallback: self = .fallback
        case .placeholder: self = .placeholder
        case .stale: self = .stale
        }
    }
}
