import RelayBase
import RelayJobs
import RelayRoute

// Asking the upstream what became of an attempt before anything is decided about its failure.
extension ExecutionMachine {
    /// Whether the upstream is asked about the attempt that failed so, first or once more.
    mutating func asks(after failure: Failure, _ recall: RouteRecall, _ moment: Moment) -> Bool {
        guard var asked = inquiry, !failure.isOfOperation else { return false }
        let last = recovery.attempts.count - 1
        if asked.doubt == nil {
            guard failure.sent.mayHaveActed, asked.settings.on.matches(failure, isExhausted: false) else {
                return false
            }
        } else if recovery.attempts[last].lookUp == .absent {
            return settled(&asked, failure, moment)
        }
        let wait = asked.wait(random: recall.random, recovery.attempts[last].failure?.retryAfter)
        if let reason = reasonNotToAsk(asked, after: wait, recall, moment) {
            recovery.asksNoMore(reason)
            return asked.doubt != nil && settled(&asked, failure, moment)
        }
        if asked.doubt == nil {
            let failure = withoutStream(failure)
            recovery.isInDoubt(failure, after: wait, at: moment.now)
            asked.doubt = Doubt(failure, upstream: nil)
            notes.append(.attemptFailed(recovery.attempts[last]))
        } else {
            recovery.attempts[last].next = .verify(after: wait)
            notes.append(.lookedUp(recovery.attempts[last]))
        }
        inquiry = asked
        retry(at: moment.now.advanced(by: wait), failure, moment)
        return true
    }

    /// The failure, which says so where the question takes the place of an answer that its caller could have had.
    private func withoutStream(_ failure: Failure) -> Failure {
        guard !isDelivery, case .stream? = answer?.body else { return failure }
        var failure = failure
        failure.detail += Self.givenUp
        return failure
    }

    static let givenUp =
        "; the content of that answer was given up to ask what became of the request (verify)"

    private func reasonNotToAsk(
        _ asked: Inquiry,
        after wait: Duration,
        _ recall: RouteRecall,
        _ moment: Moment
    ) -> HeldBack.Reason? {
        if case .unaskable(let why) = asked.question { return .unaskable(why) }
        if asked.isSpent { return .lookUpsSpent(asked.doubt?.tries ?? 0) }
        let at = moment.now.advanced(by: wait)
        if at >= recovery.deadline { return .deadline(wait: moment.now < recovery.deadline ? wait : .zero) }
        return isDelivery || recall.hasBudget ? nil : .budgetSpent
    }

    /// The upstream is asked no more about the attempt.
    ///
    /// - Returns: whether that was enough to go on; the rules decide otherwise.
    private mutating func settled(_ asked: inout Inquiry, _ failure: Failure, _ moment: Moment) -> Bool {
        let doubt = asked.doubt
        asked.doubt = nil
        inquiry = asked
        guard isDelivery, let doubt, doubt.isCutOff else { return false }
        if let attempt = recovery.attempts.last { notes.append(.lookedUp(attempt)) }
        let mayGoOn =
            recovery.attempts.last?.lookUp == .absent || doubt.isEarlier
            || context.route.mayRepeatAfterCrash(context.method, isKeyed: preparation.isKeyed)
        if !mayGoOn {
            end(.dead(.outcomeUnknown), failure)
        } else if recovery.attemptsLeft > 0 {
            begin(after: failure, moment)
        } else {
            end(.dead(recovery.endOfGivenUp(failure) ?? .exhausted), failure)
        }
        return true
    }

    /// Puts the question that is open in the place of the request.
    ///
    /// - Returns: false where none is.
    mutating func asks(_ moment: Moment) -> Bool {
        if questions?.follow != nil {
            look(moment)
            return true
        }
        guard let asked = inquiry, asked.doubt != nil, case .ready(let question) = asked.question else {
            return false
        }
        let rules = asked.rules
        let upstreamIndex = rules.settings.upstream ?? plan.upstreamIndex
        plan = recovery.lookUpBegan(
            rules.limit,
            upstreamIndex: upstreamIndex,
            at: moment.now,
            wall: moment.wall
        )
        takeQuestion(question)
        step = afterPreparation
        return true
    }

    /// The first step of a run that has to ask about an earlier one.
    mutating func ask(about doubt: Doubt, _ moment: Moment) {
        inquiry?.doubt = doubt
        switch inquiry?.question {
        case .ready(let question): takeQuestion(question)
        case .unaskable(let why):
            return unclear(Failure(.preparation, sent: .neverSent, why), doubt, moment)
        case nil: return
        }
        step = afterPreparation
        guard doubt.tries == 0, let wait = inquiry?.settings.settleAfter, wait > .zero else { return }
        if let since = doubt.endedAt.map({ moment.wall.subtractingSaturating($0) }), since >= 0 {
            let left = wait - .milliseconds(since)
            guard left > Self.clockGrain else { return }
            // An operator had it sent sooner.
            recovery.lookUpForgotten()
            takeRequest()
            return end(.retry(after: left, .backoff), doubt.failure)
        }
        // When exactly the attempt ended is not known: it may have been a moment ago.
        step = .hold(AttemptDeferral(reason: .throttled, until: moment.now.advanced(by: wait)))
    }

    /// How far the times of records may be off, which are whole milliseconds of the wall clock.
    private static let clockGrain: Duration = .milliseconds(5)

    private mutating func takeQuestion(_ question: Preparation) {
        guard let asked = inquiry else { return }
        put(question, ResponseJudge(route: asked.rules.found, method: asked.settings.method))
    }

    /// Puts a question in the place of the request.
    mutating func put(_ question: Preparation, _ judge: ResponseJudge) {
        let own = (preparation, self.judge)
        questions?.own = own
        (preparation, self.judge) = (question, judge)
        isLookingUp = true
    }

    /// Puts the request in its place again.
    mutating func takeRequest() {
        guard let own = questions?.own else { return }
        (preparation, judge) = own
        questions?.own = nil
        isLookingUp = false
    }
}

// The answer to the question.
extension ExecutionMachine {
    /// An answer that is about to be collected takes the place of the one before.
    package mutating func letGo() {
        guard case .collect = step else { return }
        if questions?.follow != nil {
            answer?.body = .empty
            return
        }
        if isLookingUp, answer != nil { inquiry?.doubt?.failure.detail += Self.givenUp }
        answer = nil
    }

    mutating func lookedUp(_ inbound: InboundResponse, _ moment: Moment) {
        guard let rules = inquiry?.rules, let doubt = inquiry?.doubt else { return }
        let (response, fields) = (inbound.response, inbound.response.fields)
        let found = judge.judge(inbound, wallSeconds: moment.wallSeconds)
        let other = ResponseJudge(route: rules.absent, method: rules.settings.method)
        let absent = other.judge(inbound, wallSeconds: moment.wallSeconds)
        let document = ResponseJudge.errorDocument(
            inbound,
            of: context.route,
            wallSeconds: moment.wallSeconds
        )
        if document == nil, found.isSuccess != absent.isSuccess {
            if !context.route.isWithoutTraffic {
                feedback = AttemptFeedback(response, wallMilliseconds: moment.wall)
            }
            if canRefresh, let token { notes.append(.tokenAccepted(token.generation)) }
            let word: LookUp = found.isSuccess ? .found : .absent
            recovery.lookUpEnded(word, status: response.status, exchange: inbound.exchange, at: moment.now)
            let answer = outgoing(found.response ?? response)
            takeRequest()
            guard word == .found else {
                // A request that the upstream did not carry out was refused.
                var failure = doubt.failure
                failure.sent = .refused
                step = .recall(failure, nil)
                return
            }
            if let attempt = recovery.attempts.last { notes.append(.lookedUp(attempt)) }
            discard()
            return accept(answer, from: .verified)
        }
        var failure =
            document ?? found.failure
            ?? Failure(
                .invalidResponse,
                sent: .answered,
                "the answer says both that the request was carried out and that it was not (verify)",
                status: response.status
            )
        failure.exchange = inbound.exchange
        failure.retryAfter = RetryAfter.parse(fields, wallSeconds: moment.wallSeconds)
        say(failure, fields, moment)
        // It is fetched anew for the next question.
        if canRefresh, let token, response.status == 401 {
            refused = token.generation
            if isDelivery { notes.append(.tokenMissed(token.generation)) }
        }
        unclear(failure, doubt, moment)
    }

    /// The question could not be asked, or had no answer.
    mutating func lookUpFailed(_ failure: Failure, _ moment: Moment) {
        if questions?.follow != nil { return lookFailed(failure, moment) }
        guard let doubt = inquiry?.doubt else { return }
        say(failure, nil, moment)
        if let ending = endOfInterruptedLookUp(failure, moment) {
            recovery.lookUpForgotten()
            takeRequest()
            return end(ending, doubt.failure)
        }
        if moment.isCancelled || failure.kind == .cancelled {
            recovery.lookUpEnded(.unclear, failure, at: moment.now)
            takeRequest()
            return stopped(after: doubt.failure, moment)
        }
        unclear(failure, doubt, moment)
    }

    private mutating func unclear(_ failure: Failure, _ doubt: Doubt, _ moment: Moment) {
        recovery.lookUpEnded(.unclear, failure, at: moment.now)
        inquiry?.doubt?.asked(failure)
        takeRequest()
        step = .recall(doubt.failure, nil)
    }

    /// The question may not be asked now.
    mutating func lookUpHeld(_ hold: AttemptDeferral, _ moment: Moment) {
        if mayWait(for: hold, moment) {
            step = .hold(hold)
        } else if isDelivery, let doubt = inquiry?.doubt {
            recovery.lookUpForgotten()
            takeRequest()
            waitAgain(hold.until, doubt.failure, moment)
        } else {
            attemptFailed(hold.failure(moment.now), moment)
        }
    }
}

extension ResponseJudge.Verdict {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }

    fileprivate var response: HTTPResponse? {
        if case .success(let response) = self { response } else { nil }
    }

    fileprivate var failure: Failure? {
        switch self {
        case .success, .quickRecovered: nil
        case .refused(let failure), .invalid(let failure): failure
        }
    }
}
