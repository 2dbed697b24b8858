/// One job on its way, between its waits: everything a decision needs and nothing that waits.
///
/// A class, so that the frames of the waiting code hold one reference. Confined to the job's task.
final class Execution {
    let context: JobContext
    let ports: RelayPorts
    let added: HeaderFields
    let canRefresh: Bool
    let preparedAt: Int64
    /// The unprepared request, where hooks may change it.
    var request: HTTPRequest?
    /// The request with what a program prepared for the last attempt: a kept answer answers this one.
    var asked: HTTPRequest?
    var preparation: Preparation
    /// The keys of the unprepared request, and of the last attempt a program prepared from it.
    var unpreparedKeys: [String] = []
    var attemptKeys: [String]?
    var judge: ResponseJudge
    var machine: RecoveryMachine
    var plan: RecoveryMachine.Plan

    var step: Step
    /// The answer whose body is to be collected, and up to how many bytes.
    var uncollected: InboundResponse?
    var collectLimit = 0
    /// What sets that limit, for messages.
    var collectKey: StaticString {
        guard let status = uncollected?.response.status, judge.needsBody(status) else {
            return "limits.max_response_body"
        }
        return judge.inspectKey
    }
    /// The memory that the collected answer takes.
    var room: MemoryHold?
    /// Whose answer may wait for room, where the job is one of a stream.
    var turn: AnswerTurn?
    /// The answer of a durable job had no room for its content.
    var lacksContent = false
    /// Whether `collectLimit` is what the account of memory allows, not what the route does.
    var isBoundByMemory = false
    /// Whether a body larger than that passes through instead of being a failure.
    var passesRest = false
    var resumeAt = Instant(nanoseconds: 0)
    var redirect: Redirect?
    var outcome: Outcome?
    /// Why a rule wants the route paused, which this request does not wait for.
    var pauseReason: String?
    /// How the run of a durable job ended; such a job has no outcome of its own.
    var delivery: Delivery?
    /// The upstream's answer to the last attempt, where it failed with one.
    var answer: HTTPResponse?
    /// The last answer of a durable job's run that was a failure, whatever came after it.
    var lastAnswer: HTTPResponse?
    var failure: Failure?
    var token: Token?
    /// Generation of the credential that was refused last.
    var refused: UInt64?

    /// What the job waits for next.
    enum Step {
        /// A program's preparation of the attempt that has begun.
        case prepare
        /// A credential, for the attempt that has begun.
        case token
        /// The upstream's answer to `outbound`.
        case send
        /// The body of `uncollected`.
        case collect
        /// What a program's strategy says of `consultation`.
        case consult(any RecoveryStrategy)
        /// `resumeAt`.
        case wait
        /// Nothing: there is an `outcome`.
        case end
    }

    /// Prepares the job.
    ///
    /// - Throws: `preparation`, with zero sends.
    init(
        _ request: HTTPRequest,
        _ context: JobContext,
        added: HeaderFields,
        canRefresh: Bool,
        since began: Instant?,
        ports: RelayPorts
    ) throws(Failure) {
        self.context = context
        self.ports = ports
        self.added = added
        self.canRefresh = canRefresh
        preparedAt = ports.time.wallSeconds()
        preparation = try Preparation(
            request,
            route: context.route,
            job: context.id,
            added: added,
            wallSeconds: preparedAt
        )
        if context.hooks != nil || context.route.answersStale
            || context.route.policy.response.keepsLastGood != nil
        {
            self.request = request
            asked = request
        }
        if context.hooks != nil { unpreparedKeys = preparation.keys }
        // A program that asks for a value cannot take the absence of one.
        judge = ResponseJudge(
            route: context.route,
            method: context.method,
            isConditional: context.hooks == nil && request.fields.isConditional
        )
        var options = context.options
        options.hasIdempotencyKey = options.hasIdempotencyKey || preparation.isKeyed
        let now = ports.time.now()
        machine = RecoveryMachine(
            route: context.route,
            method: context.method,
            options: options,
            now: began ?? now,
            history: context.history
        )
        guard now < machine.deadline else { throw Execution.late }
        if context.history != nil { refused = context.memory.takeRefusal(of: context.id) }
        plan = machine.attemptBegan(at: now, isConstrained: ports.isConstrained(for: context.route))
        step = .send
        step = firstStep
        reportBegin()
    }

    /// Where the attempt goes, without its query; at most 1,024 bytes of path.
    var url: String {
        let target = redirect?.target ?? plan.upstream.basePath + preparation.target
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }.prefix(1_024)
        let visible = path.map { $0 > 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }
        return plan.upstream.origin.text + String(decoding: visible, as: UTF8.self)
    }

    /// The moment by which the attempt must be over, its credential and a collected body included.
    var deadline: Instant { plan.deadline }

    /// The attempt, made from the unprepared request.
    func outbound() throws(Failure) -> OutboundRequest {
        guard ports.time.now() < plan.deadline else {
            throw Failure(
                .httpResponseTimeout,
                sent: .neverSent,
                "the attempt's time was over before the request was sent"
            )
        }
        return try preparation.attempt(
            plan,
            token: token,
            wallSeconds: ports.time.wallSeconds(),
            redirect: redirect,
            signer: ports.signer,
            log: context.history?.log
        )
    }

    /// How the job ended; once, after the last step.
    func takeOutcome() -> Outcome {
        guard let outcome else { preconditionFailure("a job was asked for its outcome at the step \(step)") }
        self.outcome = nil
        return outcome
    }

    /// The program made the attempt's request.
    func prepared(_ request: HTTPRequest) {
        do throws(Failure) {
            let next = try prepare(request)
            // A key that changes with the attempts protects from nothing.
            guard attemptKeys == nil || next.keys == attemptKeys else {
                throw Failure(
                    .preparation,
                    sent: .neverSent,
                    "a step of preparation changed the idempotency key between two attempts; set it once a job"
                )
            }
            attemptKeys = next.keys
            take(next)
            asked = request
            step = afterPreparation
        } catch {
            failed(error)
        }
    }

    func obtained(_ token: Token) {
        guard ports.time.now() < plan.deadline else { return missedToken() }
        self.token = token
        step = .send
    }

    /// The credential was not there in time.
    func missedToken() {
        let name = context.route.policy.authentication?.credential ?? ""
        failed(
            Failure(
                .credentialsFailed,
                sent: .neverSent,
                "the credential \"\(name)\" was not there within \(plan.limit.text)"
            )
        )
    }

    func waited() { begin() }

    /// The upstream answered; its body may still be on the way.
    func received(_ inbound: InboundResponse) {
        if inbound.exchange.missedPins { ports.sink.record(.pinsMissed(context, inbound.exchange)) }
        if follow(inbound) { return }
        lacksContent = false
        if let limit = collects(inbound) {
            uncollected = inbound
            collectLimit = limit
            step = .collect
        } else if case .bytes(let bytes) = inbound.response.body, judge.needsBody(inbound.response.status),
            bytes.count > judge.inspectLimit
        {
            // However the packets fell, the limit is the same.
            uncollected = inbound
            collectingFailed(.bodyTooLarge(limit: judge.inspectLimit, key: judge.inspectKey))
        } else {
            answered(inbound)
        }
    }

    func collected(_ bytes: [UInt8]) {
        guard var inbound = uncollected else { return }
        uncollected = nil
        inbound.response.body = .bytes(bytes)
        answered(inbound)
    }

    /// The body of `uncollected` is larger than what is kept; its rest passes through.
    func collected(_ beginning: [UInt8], rest: any BodySource) {
        guard var inbound = uncollected else { return }
        uncollected = nil
        inbound.response.body = .stream(ContinuedBody(beginning, rest))
        answered(inbound)
    }

    /// The body of `uncollected` did not come.
    func collectingFailed(_ failure: Failure) {
        var failure = failure
        failure.status = uncollected?.response.status
        if let response = uncollected?.response {
            failure.retryAfter = judge.retryAfter(response, time: ports.time)
        }
        failure.exchange = failure.exchange ?? uncollected?.exchange
        failure = judge.refusing(failure, failure.status)
        uncollected = nil
        failed(failure)
    }

    func failed(_ failure: Failure) {
        answer = nil
        if context.history != nil, interrupted(by: failure) { return }
        if failure.kind != .preparation, failure.kind != .cancelled,
            let recovered = judge.quickRecovery(failure, nil) ?? context.hooks?.quickRecovery(failure, nil)
        {
            return quickRecovered(recovered, from: failure)
        }
        decide(noted(failure))
    }

    /// The strategy that was asked has answered.
    func advised(_ disposition: RecoveryDisposition) {
        if Task.isCancelled {
            // Its failure was decided about by nobody.
            if let attempt = machine.attempts.last { context.hooks?.decided(attempt) }
            return cancelled()
        }
        var situation = situation
        if case .retry(let request, _) = disposition {
            situation.keepsKey = (try? prepare(request))?.keys == unpreparedKeys
        }
        act(machine.advised(disposition, situation))
    }

    /// What a strategy is asked about.
    var consultation: (failure: Failure, request: HTTPRequest, context: RecoveryContext)? {
        guard let failure, let request else { return nil }
        let left = RecoveryContext(
            attempt: plan.number,
            attemptsLeft: machine.attemptsLeft,
            timeLeft: ports.time.now().duration(to: machine.deadline),
            route: context.route.name
        )
        return (failure, request, left)
    }

    /// The caller went away while the job waited.
    func cancelled() {
        if context.history != nil, let failure { return stoppedWaiting(after: failure) }
        ended(Failure(.cancelled, sent: failure?.sent ?? .neverSent, "the caller went away"))
    }
}

extension Execution {
    func begin() {
        let now = ports.time.now()
        guard now < machine.deadline else { return ended(failure ?? Execution.late) }
        redirect = nil
        plan = machine.attemptBegan(
            at: now,
            isConstrained: ports.isConstrained(for: context.route)
        )
        step = firstStep
        reportBegin()
    }

    static let late: Failure = {
        var failure = Failure(
            .deadlineExceeded,
            sent: .neverSent,
            "the job's time was over before it could be sent"
        )
        failure.isPastDeadline = true
        return failure
    }()

    var firstStep: Step { context.hooks == nil ? afterPreparation : .prepare }

    var afterPreparation: Step {
        context.route.policy.authentication == nil ? .send : .token
    }

    /// From now on what may be done is decided by that request.
    func take(_ next: Preparation) {
        preparation = next
        judge = ResponseJudge(route: context.route, method: next.method)
        machine.requestChanged(
            method: next.method,
            isKeyed: context.options.hasIdempotencyKey || next.isKeyed
        )
    }

    func prepare(_ request: HTTPRequest) throws(Failure) -> Preparation {
        try Preparation(
            request,
            route: context.route,
            job: context.id,
            added: added,
            wallSeconds: preparedAt
        )
    }

    func reportBegin() {
        guard let hooks = context.hooks, let attempt = machine.attempts.last, let request else { return }
        hooks.attemptBegan(attempt, of: request)
    }
}
