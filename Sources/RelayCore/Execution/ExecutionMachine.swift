package import RelayBase
package import RelayJobs
package import RelayRoute

/// One job on its way, between its waits: what happened goes in as an event, what the job needs next stands in `step`.
///
/// Its driver does what the step says, by a task that waits or by the events of connections, and tells what came of
/// it. An event that the step does not wait for changes nothing.
package struct ExecutionMachine: Sendable {
    package let context: JobContext
    let added: HeaderFields
    let canRefresh: Bool
    /// Seconds since 1970 UTC.
    let preparedAt: Int64
    /// The request of a program that has code of its own to run; nil where there is none.
    @Rare var program: Program?
    /// The request with what a program prepared for the last attempt, where a kept answer may answer it.
    @Rare var asked: HTTPRequest?
    var preparation: Preparation
    var judge: ResponseJudge
    package internal(set) var recovery: RecoveryMachine
    package internal(set) var plan: RecoveryMachine.Plan
    /// Where the attempt was sent on to.
    var redirect: Redirect?
    /// The last one that the job had.
    var token: Token?
    /// Generation of the credential that was refused last.
    package internal(set) var refused: UInt64?
    /// The upstream's last answer that was none to accept: of a request as long as no other attempt follows, of a run to
    /// its end.
    var answer: HTTPResponse?
    /// The last answer of a run had no room for its content.
    var lacksContent = false
    package internal(set) var step: Step
    /// Whether it has ended with an answer whose content is still on its way.
    var answersByStream = false
    var notes: [Note] = []
    /// How the attempt was that had leave, for the route's traffic; nil once that was told.
    var feedback: AttemptFeedback?
    /// Whether what comes next is a retry of a request that somebody waits for.
    var isRetry = false
    /// The request as it came, where its attempts may be lighter ones; a program has its own.
    @Rare var original: HTTPRequest?
    /// Whether the attempt is in its lighter form.
    var isLight = false
    /// The hold that has kept the attempt back.
    @Rare var hold: AttemptDeferral?
    /// The relay's own questions to the upstream; nil where it has none.
    @Rare var questions: Questions?
    /// Whether one of them stands in the place of the request.
    var isLookingUp = false
    /// The job that goes on with the request, whose caller is answered in the upstream's stead.
    var keptJob: KeptJobName?

    /// A program's request, as it was before any per-attempt preparation.
    struct Program: Sendable {
        var request: HTTPRequest
        /// The keys of that request, and of the last attempt the program prepared from it.
        var keys: [String]
        var attemptKeys: [String]?
    }

    /// The step that the job needs next, with all that only this step needs.
    package enum Step: Sendable {
        /// A program's preparation of the attempt that has begun, after its observers.
        case prepare
        /// Leave of the route's traffic to send the attempt that has begun.
        case grant
        /// That moment, to ask for leave again.
        case hold(AttemptDeferral)
        /// A credential, for the attempt that has begun.
        case token
        /// The upstream's answer to `outbound`.
        case send
        /// The content of an answer.
        case collect(Collecting)
        /// A program's opinion of an answer.
        case classify(InboundResponse)
        /// The success that a program makes of a failure, and of its answer where one came.
        case recover(Failure, HTTPResponse?)
        /// A program's name for a failure.
        case name(Failure)
        /// The state that the jobs of the route share, to decide about the failure.
        case recall(Failure, TokenRefusal?)
        /// The decision of a program's strategy about the failure.
        case consult(any RecoveryStrategy, Failure)
        /// That moment, for another attempt after the failure.
        case wait(until: Instant, Failure)
        /// Another attempt, as the network is now.
        case begin
        /// A kept job that goes on with the request, whose caller is answered then.
        case keep(Keeping)
        /// Whether a program takes the answer.
        case accept(HTTPResponse, Maker)
        case end(Ending)
    }

    /// An answer whose content is to be in memory.
    package struct Collecting: Sendable {
        package var inbound: InboundResponse
        /// Bytes at most.
        package var limit: Int
        /// The key that sets the limit, for messages.
        package var key: StaticString = "limits.max_response_body"
        /// The treatment of a body that is larger.
        package var beyond = Beyond.fails

        package enum Beyond: Sendable {
            case fails, passesThrough
            /// The head waits for the beginning alone, as the route says.
            case heldHead
        }
    }

    /// A request that is answered in the upstream's stead and kept.
    package struct Keeping: Sendable {
        var response: HTTPResponse
        var source: StandIn
        /// When the job is due.
        var wait: Duration
    }

    /// The upstream refused the credential, and a rule would fetch another.
    package struct TokenRefusal: Sendable {
        package var generation: UInt64
        /// Whether it had been fetched because an earlier one was refused.
        package var isFresh: Bool
        /// Whether the job fetched one for that before: it then goes on as often as its rule lets it.
        var hasRenewed: Bool
    }

    /// The maker of an answer that is to be accepted.
    package enum Maker: Sendable, Equatable {
        case upstream
        case quickRecovery
        /// The upstream, asked what became of the request.
        case verified
        /// The upstream, by the end of the operation that it began, or by its beginning.
        case followed, begun
        case standIn(StandIn)
    }

    package enum Ending: Sendable {
        case answered(HTTPResponse, AnswerSource)
        /// Of a request.
        case failed(Failure)
        /// Of a run.
        indirect case undelivered(Settlement.Ending, Failure?, pauseReason: String?)
        /// Of a run, whose operation is looked at after that wait.
        case follows(after: Duration)
    }

    /// A fact that others are to be told at once.
    package enum Note: Sendable {
        /// The attempt failed, and this was decided.
        case attemptFailed(Attempt)
        /// The failed attempt was a success after all, or its job was cancelled before anybody decided.
        case decided(Attempt)
        /// The upstream was asked about an attempt, or has begun an operation, and this was decided.
        case lookedUp(Attempt)
        /// A look at an operation that is on no record.
        case looked(LookUp)
        case pinsMissed(Exchange)
        /// A rule wants the route paused, which a request does not wait for.
        case pauseWanted(String)
        /// The failure says something about the upstream of `plan`.
        case upstreamFailed
        /// The upstream of `plan` took the credential of that generation.
        case tokenAccepted(UInt64)
        /// The job waits for a newer credential than that one, which was refused.
        case tokenMissed(UInt64)
        /// A good answer to keep.
        case answered(HTTPResponse, AnswerKey)
        /// Nobody wants that content any more; nor, of an answer that was kept so far, the room it takes.
        case dropped(Body, wasKept: Bool)
    }

    /// Prepares the job and begins its first attempt; its time counts from `began`, or from now, without that in which its
    /// content has `moved`.
    ///
    /// While the network is constrained attempts go to the route's lighter upstream, where it has one.
    ///
    /// - Throws: `preparation`, `deadline_exceeded`, with zero sends.
    package init(
        _ request: HTTPRequest,
        _ context: JobContext,
        added: HeaderFields,
        canRefresh: Bool,
        refused: UInt64? = nil,
        isConstrained: Bool = false,
        since began: Instant? = nil,
        moved: Duration = .zero,
        _ moment: Moment
    ) throws(Failure) {
        self.context = context
        self.added = added
        self.canRefresh = canRefresh
        self.refused = refused
        let route = context.route
        preparedAt = moment.wallSeconds
        let light = context.constrainedUse == .light ? context.lightRequest : nil
        isLight = isConstrained && light != nil
        preparation = try Preparation(
            isLight ? light?.applied(to: request) ?? request : request,
            route: route,
            job: context.id,
            added: added,
            wallSeconds: preparedAt
        )
        if let rules = route.lookUp, !context.method.isSafe {
            questions = Questions(
                inquiry: Inquiry(
                    rules,
                    request,
                    preparation,
                    context,
                    added: added,
                    wallSeconds: preparedAt
                )
            )
        }
        let hasProgram = context.hooks != nil
        if hasProgram { program = Program(request: request, keys: preparation.keys) }
        if light != nil, !hasProgram { original = request }
        if hasProgram || route.answersStale || route.keepsRequests
            || route.policy.response.keepsLastGood != nil
        {
            asked = request
        }
        // A program that asks for a value cannot take the absence of one.
        judge = ResponseJudge(
            route: route,
            method: context.method,
            isConditional: !hasProgram && request.fields.isConditional
        )
        var options = context.options
        options.hasIdempotencyKey = options.hasIdempotencyKey || preparation.isKeyed
        recovery = RecoveryMachine(
            route: route,
            method: context.method,
            options: options,
            now: began ?? moment.now,
            moved: moved,
            history: context.history
        )
        guard moment.now < recovery.deadline else { throw ExecutionMachine.late }
        if let rules = route.follow, let operation = context.history?.operation,
            let index = operation.index(among: route.policy.upstreams)
        {
            let wall = moment.wall
            plan = recovery.lookUpBegan(nil, .unanswered, upstreamIndex: index, at: moment.now, wall: wall)
            step = .send
            let follow = try looks(at: operation, rules, index)
            questions = Questions(inquiry: inquiry, follow: follow)
            takeLook(follow)
            return
        }
        if let rules = route.lookUp, !context.method.isSafe, let doubt = context.history?.doubt,
            let index = rules.index(about: doubt, among: route.policy.upstreams)
        {
            let wall = moment.wall
            plan = recovery.lookUpBegan(rules.limit, upstreamIndex: index, at: moment.now, wall: wall)
            step = .send
            ask(about: doubt, moment)
            return
        }
        plan = recovery.attemptBegan(
            at: moment.now,
            wall: moment.wall,
            isConstrained: isConstrained
        )
        step = .send
        step = firstStep
    }
}

// Events.
extension ExecutionMachine {
    /// The program made the attempt's request.
    package mutating func prepared(_ request: HTTPRequest, _ moment: Moment) {
        guard case .prepare = step else { return }
        do throws(Failure) {
            let next = try prepare(lighter(request))
            // A key that changes with the attempts protects from nothing.
            guard program?.attemptKeys == nil || next.keys == program?.attemptKeys else {
                throw .preparation(
                    "a step of preparation changed the idempotency key between two attempts; set it once a job"
                )
            }
            program?.attemptKeys = next.keys
            take(next)
            asked = request
            step = afterPreparation
        } catch {
            attemptFailed(error, moment)
        }
    }

    /// The attempt may be sent.
    package mutating func granted() {
        guard case .grant = step else { return }
        isRetry = false
        if answer != nil, !isLookingUp { discard() }
        step = afterGrant
    }

    /// The attempt may not be sent now: it goes elsewhere, waits, or comes to nothing.
    package mutating func held(_ hold: AttemptDeferral, _ moment: Moment) {
        guard case .grant = step else { return }
        self.hold = hold
        if isLookingUp { return questions?.follow == nil ? lookUpHeld(hold, moment) : lookHeld(hold, moment) }
        let failure = hold.failure(moment.now)
        // No upstream of a route that is closed is sent anything, so that a kept job need not ask.
        if hold.reason == .routeClosed, isDelivery { return waitFor(failure, moment) }
        let leadsElsewhere = !context.route.failovers(when: hold.reason).isEmpty
        if !hold.mayBeWaitedFor || hold.reason == .throttled || leadsElsewhere, waits(moment) {
            decide(failure, moment)
        } else if mayWait(for: hold, moment) {
            step = .hold(hold)
        } else if isDelivery {
            waitFor(failure, moment)
        } else {
            attemptFailed(failure, moment)
        }
    }

    /// How the attempt was that had leave; told once.
    mutating func takeFeedback() -> AttemptFeedback? { feedback.take() }

    /// The moment of `hold` has come.
    package mutating func heldOver(_ moment: Moment) {
        guard case .hold = step else { return }
        if hold?.reason == .networkConstrained { hold = nil }
        plan = recovery.attemptPostponed(at: moment.now, wall: moment.wall, plan)
        step = .grant
    }

    package mutating func obtained(_ token: Token, _ moment: Moment) {
        guard case .token = step else { return }
        guard moment.now < plan.deadline else { return missedToken(moment) }
        self.token = token
        step = .send
    }

    /// The credential was not there in time.
    package mutating func missedToken(_ moment: Moment) {
        guard case .token = step else { return }
        let name = context.route.policy.authentication?.credential ?? ""
        let failure = Failure.credentialsFailed(
            "the credential \"\(name)\" was not there within \(plan.limit.text)"
        )
        attemptFailed(failure, moment)
    }

    /// The attempt came to no answer: while it was prepared, waited for its credential or was sent.
    package mutating func failed(_ failure: Failure, _ moment: Moment) {
        switch step {
        case .prepare, .token, .send:
            if let exchange = failure.exchange { contentMoved(for: exchange.upload) }
            attemptFailed(failure, moment)
        case .grant, .hold, .collect, .classify, .recover, .name, .recall, .consult, .wait, .begin, .keep,
            .accept, .end:
            break
        }
    }

    /// The upstream answered; its body may still be on the way.
    package mutating func received(_ inbound: InboundResponse, _ moment: Moment) {
        guard case .send = step else { return }
        contentMoved(for: inbound.exchange.upload)
        if inbound.exchange.missedPins { notes.append(.pinsMissed(inbound.exchange)) }
        if follow(inbound) { return }
        lacksContent = false
        if let collecting = collecting(inbound) {
            step = .collect(collecting)
        } else if case .bytes(let bytes) = inbound.response.body, judge.needsBody(inbound.response.status),
            bytes.count > judge.inspectLimit
        {
            // However the packets fell, the limit is the same.
            cutOff(.bodyTooLarge(limit: judge.inspectLimit, key: judge.inspectKey), inbound, moment)
        } else {
            answered(inbound, moment)
        }
    }

    /// Content has moved for so long, which the limits of attempt and job do not count.
    package mutating func contentMoved(for time: Duration) {
        if time > .zero { plan = recovery.contentMoved(for: time, plan) }
    }

    /// The content of the answer is in memory, or the beginning of one that passes through.
    package mutating func collected(_ body: Body, _ moment: Moment) {
        guard case .collect(let collecting) = step else { return }
        var inbound = collecting.inbound
        inbound.response.body = body
        answered(inbound, moment)
    }

    /// The content of the answer did not come.
    package mutating func collectingFailed(_ failure: Failure, _ moment: Moment) {
        guard case .collect(let collecting) = step else { return }
        cutOff(failure, collecting.inbound, moment)
    }

    /// The program's verdict on the answer: the failure that it is, nil when it is none.
    package mutating func classified(_ failure: Failure?, _ moment: Moment) {
        guard case .classify(let inbound) = step else { return }
        guard var failure else { return judged(inbound, moment) }
        // How far a request got is the relay's to say, whatever a program's code claims.
        failure.sent = .answered
        failure = judge.completed(failure, inbound, wallSeconds: moment.wallSeconds)
        guard let recovered = judge.quickRecovery(failure, inbound.response) else {
            return refused(failure, inbound, moment)
        }
        quickRecovered(recovered, from: failure, inbound.response.fields, moment)
    }

    /// The success that the program makes of the failure; nil when it makes none.
    package mutating func recovered(_ response: HTTPResponse?, _ moment: Moment) {
        guard case .recover(let failure, let refusal) = step else { return }
        if let response { return quickRecovered(response, from: failure, refusal?.fields, moment) }
        if let refusal { answer = outgoing(refusal) }
        note(failure, refusal?.fields, moment)
    }

    package mutating func named(_ named: Failure, _ moment: Moment) {
        guard case .name(let failure) = step else { return }
        var named = named
        named.sent = failure.sent
        named.url = failure.url
        if failure.isOfOperation { named.isOfOperation = true }
        decide(named, moment)
    }

    package mutating func recalled(_ recall: RouteRecall, _ moment: Moment) {
        guard case .recall(let failure, let refusal) = step else { return }
        if inquiry != nil, asks(after: failure, recall, moment) { return }
        var situation = situation(recall, moment)
        if refusal?.hasRenewed == false { situation.refreshHeld = recall.refreshHeld }
        let decision =
            recovery.isAfterLookUp
            ? recovery.decide(about: failure, situation) : recovery.attemptFailed(failure, situation)
        act(decision, failure, recall, moment)
    }

    /// The strategy that was asked has answered.
    package mutating func advised(_ disposition: RecoveryDisposition, _ recall: RouteRecall, _ moment: Moment)
    {
        guard case .consult(_, let failure) = step else { return }
        if moment.isCancelled {
            // Its failure was decided about by nobody.
            if let attempt = recovery.attempts.last { notes.append(.decided(attempt)) }
            return stopped(after: failure, moment)
        }
        var situation = situation(recall, moment)
        if case .retry(let request, _) = disposition {
            situation.keepsKey = (try? prepare(request))?.keys == program?.keys
        }
        act(recovery.advised(disposition, situation), failure, recall, moment)
    }

    package mutating func waited(_ moment: Moment) {
        guard case .wait(_, let failure) = step else { return }
        begin(after: failure, moment)
    }

    /// Another attempt begins.
    package mutating func begun(isConstrained: Bool, _ moment: Moment) {
        guard case .begin = step else { return }
        redirect = nil
        if questions != nil, asks(moment) { return }
        plan = recovery.attemptBegan(at: moment.now, wall: moment.wall, isConstrained: isConstrained)
        do throws(Failure) { try lighten(isConstrained) } catch { return attemptFailed(error, moment) }
        step = firstStep
    }

    /// The caller went away while the job waited.
    package mutating func cancelled(_ moment: Moment) {
        switch step {
        case .wait(_, let failure): stopped(after: failure, moment)
        case .hold:
            attemptFailed(Failure(.cancelled, sent: .neverSent, "the request was cancelled"), moment)
        default: return
        }
    }

    /// The facts that others are to be told since this was asked last, in order.
    package mutating func takeNotes() -> [Note] {
        guard !notes.isEmpty else { return [] }
        defer { notes = [] }
        return notes
    }
}
