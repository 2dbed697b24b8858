/// One job on its way, between its waits: everything a decision needs and nothing that waits.
///
/// A class, so that the frames of the waiting code hold one reference. Confined to the job's task.
final class Execution {
    let context: JobContext
    private let preparation: Preparation
    private let judge: ResponseJudge
    private var machine: RecoveryMachine
    private var plan: RecoveryMachine.Plan
    private let ports: RelayPorts
    private let canRefresh: Bool

    private(set) var step: Step
    /// The answer whose body is to be collected, and up to how many bytes.
    private(set) var uncollected: InboundResponse?
    private(set) var collectLimit = 0
    private(set) var resumeAt = Instant(nanoseconds: 0)
    private var outcome: Outcome?
    /// The upstream's answer to the last attempt, where it failed with one.
    private var answer: HTTPResponse?
    private var failure: Failure?
    private var token: Token?
    /// Generation of the credential that was refused last.
    private(set) var refused: UInt64?

    /// What the job waits for next.
    enum Step {
        /// A credential, for the attempt that has begun.
        case token
        /// The upstream's answer to `outbound`.
        case send
        /// The body of `uncollected`.
        case collect
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
        self.canRefresh = canRefresh
        preparation = try Preparation(
            request,
            route: context.route,
            job: context.id,
            added: added,
            time: ports.time
        )
        judge = ResponseJudge(route: context.route, method: context.method)
        var options = context.options
        options.hasIdempotencyKey = options.hasIdempotencyKey || preparation.isKeyed
        let now = ports.time.now()
        machine = RecoveryMachine(
            route: context.route,
            method: context.method,
            options: options,
            now: began ?? now
        )
        plan = machine.attemptBegan(at: now)
        step = context.route.policy.authentication == nil ? .send : .token
    }

    /// The moment by which the attempt must be over, its credential and a collected body included.
    var deadline: Instant { plan.deadline }

    /// The attempt, made from the unprepared request.
    func outbound() throws(Failure) -> OutboundRequest {
        try preparation.attempt(plan, token: token, time: ports.time)
    }

    /// How the job ended; once, after the last step.
    func takeOutcome() -> Outcome {
        guard let outcome else { preconditionFailure("a job was asked for its outcome at the step \(step)") }
        self.outcome = nil
        return outcome
    }

    func obtained(_ token: Token) {
        self.token = token
        step = .send
    }

    func waited() { begin() }

    /// The upstream answered; its body may still be on the way.
    func received(_ inbound: InboundResponse) {
        if let limit = collects(inbound) {
            uncollected = inbound
            collectLimit = limit
            step = .collect
        } else if case .bytes(let bytes) = inbound.response.body, judge.needsBody(inbound.response.status),
            bytes.count > judge.inspectLimit
        {
            // However the packets fell, the limit is the same.
            uncollected = inbound
            collectingFailed(.bodyTooLarge(limit: judge.inspectLimit))
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

    /// The body of `uncollected` did not come.
    func collectingFailed(_ failure: Failure) {
        var failure = failure
        failure.status = uncollected?.response.status
        failure.exchange = failure.exchange ?? uncollected?.exchange
        uncollected = nil
        failed(failure)
    }

    func failed(_ failure: Failure) {
        answer = nil
        if let recovered = judge.quickRecovery(failure, nil) {
            machine.quickRecovered(from: failure, at: ports.time.now())
            return succeeded(recovered)
        }
        decide(judge.named(failure))
    }

    /// The caller went away while the job waited.
    func cancelled() {
        ended(Failure(.cancelled, sent: failure?.sent ?? .neverSent, "the caller went away"))
    }
}

extension Execution {
    private func begin() {
        plan = machine.attemptBegan(at: ports.time.now())
        step = context.route.policy.authentication == nil ? .send : .token
    }

    /// Bytes of the answer's body that must be in memory before it can be judged; nil when it can be judged now.
    private func collects(_ inbound: InboundResponse) -> Int? {
        guard case .stream(let source) = inbound.response.body else { return nil }
        if judge.needsBody(inbound.response.status) { return judge.inspectLimit }
        if context.options.collectsAnswer { return context.route.policy.limits.body }
        if let length = source.length, length <= Relay.collectLimit { return Int(Relay.collectLimit) }
        return nil
    }

    private func answered(_ inbound: InboundResponse) {
        switch judge.judge(inbound, time: ports.time) {
        case .success(let response):
            machine.attemptSucceeded(
                at: ports.time.now(),
                status: response.status,
                exchange: inbound.exchange
            )
            succeeded(response)
        case .quickRecovered(let response, let from):
            machine.quickRecovered(from: from, at: ports.time.now())
            succeeded(response)
        case .failure(let failure, let answer):
            self.answer = answer
            decide(failure)
        }
    }

    private func decide(_ found: Failure) {
        var failure = found
        if Task.isCancelled, failure.kind != .cancelled {
            failure = Failure(.cancelled, sent: failure.sent, "the caller went away")
        }
        self.failure = failure
        let decision = machine.attemptFailed(
            failure,
            at: ports.time.now(),
            canRepeat: preparation.body.isReplayable,
            canRefresh: canRefresh,
            random: ports.entropy.next()
        )
        if let attempt = machine.attempts.last { ports.sink.record(.attemptFailed(context, attempt)) }
        switch decision {
        case .fail: ended(failure)
        case .respond(let canned, let rule):
            discard()
            respond(canned, rule: rule)
        case .failover:
            discard()
            begin()
        case .refreshCredentials:
            discard()
            refused = token?.generation ?? 0
            begin()
        case .retry(let at):
            discard()
            resumeAt = at
            step = .wait
        }
    }

    private func succeeded(_ response: HTTPResponse) {
        if machine.attempts.count > 1 || machine.attempts.last?.failure != nil {
            ports.sink.record(.recovered(context, attempts: machine.attempts))
        }
        end(.answered(response, .upstream))
    }

    private func respond(_ canned: CannedResponse, rule: String) {
        var fields = HeaderFields()
        for field in canned.fields { fields.append(field.name, field.value) }
        let response = HTTPResponse(
            status: canned.status,
            fields: fields,
            body: canned.body.isEmpty ? .empty : .bytes(canned.body)
        )
        ports.sink.record(
            .fallbackServed(context, source: canned.source, rule: rule, attempts: machine.attempts)
        )
        end(.answered(response, canned.source == .fallback ? .fallback : .placeholder))
    }

    private func ended(_ failure: Failure) {
        ports.sink.record(.jobFailed(context, failure, attempts: machine.attempts))
        end(.failed(failure, answer: answer))
    }

    private func end(_ ending: Outcome.Ending) {
        outcome = Outcome(ending: ending, attempts: machine.attempts)
        step = .end
    }

    private func discard() {
        if case .stream(let source)? = answer?.body { source.cancel() }
        answer = nil
    }
}
