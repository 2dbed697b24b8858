import RelayBase
import RelayJobs
import RelayRoute

// Following an operation that the upstream has begun, by looks at it that are questions of the relay's own.
extension ExecutionMachine {
    /// Takes up the operation that the answer has begun.
    ///
    /// - Returns: false where it has begun none.
    mutating func begins(
        _ rules: FollowRules,
        _ inbound: InboundResponse,
        isWhole: Bool = true,
        _ moment: Moment
    ) -> Bool {
        let response = inbound.response
        guard rules.mayBegin(response.status) else { return false }
        if let when = rules.when {
            let judge = ResponseJudge(route: when, method: preparation.method)
            guard case .success = judge.judge(inbound, wallSeconds: moment.wallSeconds) else { return false }
        }
        let place = rules.settings.location
        let address = OperationAddress(place, response, base: sentTo, at: plan.upstream, rules.settings)
        let fault: String
        var kind = FailureKind.operationLost
        switch address {
        case nil:
            guard rules.needsAddress else { return false }
            fault = "the upstream has begun an operation and does not say where it can be asked about it"
        case .refused(let why)?:
            kind = .followRefused
            fault = "the upstream has begun an operation whose address is not followed: \(why)"
        case .target(let target, let isMonitor)?:
            let operation = BegunOperation(
                target,
                isMonitor: isMonitor,
                upstream: plan.upstream.name,
                origin: plan.upstream.origin.text,
                beganAt: moment.wall
            )
            guard let follow = try? looks(at: operation, rules, plan.upstreamIndex) else { return false }
            begins(follow, inbound, isWhole: isWhole, moment)
            return true
        }
        var failure = Failure(kind, sent: .answered, fault, status: response.status)
        failure.exchange = inbound.exchange
        keepInvalid(response)
        note(failure, response.fields, moment)
        return true
    }

    /// Content did not come whole, or is too large, of an answer that may have begun an operation.
    ///
    /// - Returns: false where nothing says that it has begun one.
    mutating func begins(without failure: Failure, _ inbound: InboundResponse, _ moment: Moment) -> Bool {
        guard !isLookingUp, let rules = context.route.follow, rules.mayBegin(inbound.response.status) else {
            return false
        }
        if !rules.needsContent {
            // The head alone says so.
            var head = inbound
            head.response.body = .empty
            head.response.fields.remove(.contentLength)
            return begins(rules, head, isWhole: false, moment)
        }
        guard failure.kind == .httpResponseBodySize || rules.settings.when?.inspectsBody != true else {
            return false
        }
        var lost = Failure(
            .operationLost,
            sent: .answered,
            "what the upstream has begun is not known, since that stands in the answer's content: \(failure.detail)",
            status: inbound.response.status
        )
        lost.exchange = failure.exchange ?? inbound.exchange
        note(lost, inbound.response.fields, moment)
        return true
    }

    private mutating func begins(
        _ follow: Follow,
        _ inbound: InboundResponse,
        isWhole: Bool,
        _ moment: Moment
    ) {
        var begun = outgoing(inbound.response)
        var isWhole = isWhole
        if case .stream = begun.body {
            notes.append(.dropped(begun.body, wasKept: false))
            begun.body = .empty
            begun.fields.remove(.contentLength)
            isWhole = false
        }
        answer = begun
        tookWell(inbound, moment)
        recovery.attemptSucceeded(at: moment.now, status: begun.status, exchange: inbound.exchange)
        let asked = RetryAfter.parse(inbound.response.fields, wallSeconds: moment.wallSeconds)
        let wait = bounded(follow.rules.settings, age: .zero, asked, moment)
        recovery.operationBegan(at: follow.operation.reference, after: wait)
        if !isWhole { recovery.asksNoMore(.contentGivenUp, "follow") }
        if let attempt = recovery.attempts.last { notes.append(.lookedUp(attempt)) }
        questions = Questions(inquiry: inquiry, follow: follow)
        redirect = nil
        lookLater(after: wait, moment)
    }

    /// The looks at an operation, which carry what goes with every request of the route.
    func looks(
        at operation: BegunOperation,
        _ rules: FollowRules,
        _ upstreamIndex: Int
    ) throws(Failure) -> Follow {
        var fields = HeaderFields()
        if let own = preparation.callersCredential { fields.append("Authorization", own) }
        if let name = FieldName("Accept"), let types = preparation.value(of: name) {
            fields.append("Accept", types)
        }
        return Follow(
            rules: rules,
            operation: operation,
            preparation: try Preparation(
                HTTPRequest(method: .get, target: "", fields: fields),
                route: rules.asking,
                job: context.id,
                added: added,
                wallSeconds: preparedAt
            ),
            upstreamIndex: upstreamIndex
        )
    }

    /// Another look after that wait, which of a kept job is the store's to keep.
    private mutating func lookLater(after wait: Duration, _ moment: Moment) {
        questions?.follow?.elsewhere = nil
        questions?.follow?.moves = 0
        if isDelivery {
            step = .end(.follows(after: wait))
            return
        }
        let at = moment.now.advanced(by: wait)
        guard at < recovery.deadline else { return handBack(wait, moment) }
        step = .wait(until: at, Follow.running)
    }

    /// Whether the upstream has begun an operation for it that goes on; mutating, so that the machine is not copied for it.
    var isFollowing: Bool { mutating get { questions?.follow != nil } }

    /// Whether the operation is done, and its result is being fetched.
    var isOperationDone: Bool { mutating get { questions?.follow?.result != nil } }

    /// The caller has no time left for the operation's end, and gets the answer that has begun it.
    mutating func handBack(_ wait: Duration, _ moment: Moment) {
        recovery.asksNoMore(.deadline(wait: wait), "follow")
        guard let answer else { return ended(Follow.running, moment) }
        accept(answer, from: .begun)
    }

    /// Looks at the operation in the place of sending the request.
    mutating func look(_ moment: Moment) {
        guard let follow = questions?.follow else { return }
        plan = recovery.lookUpBegan(
            nil,
            .unanswered,
            upstreamIndex: follow.upstreamIndex,
            at: moment.now,
            wall: moment.wall
        )
        takeLook(follow)
    }

    /// The first step of a look that has begun.
    mutating func takeLook(_ follow: Follow) {
        redirect = Redirect(lookingAt: follow.elsewhere ?? follow.result ?? follow.operation.target)
        put(follow.preparation, ResponseJudge(route: follow.rules.asking, method: .get))
        step = afterPreparation
    }
}

// The answer to a look.
extension ExecutionMachine {
    mutating func looked(_ inbound: InboundResponse, _ moment: Moment) {
        guard let follow = questions?.follow else { return }
        let finding = follow.finding(inbound, on: context.route, wallSeconds: moment.wallSeconds)
        if case .moved(let failure) = finding, moved(follow, failure, inbound, moment) { return }
        if let failure = finding.silence {
            say(failure, inbound.response.fields, moment)
            if canRefresh, let token, inbound.response.status == 401 {
                refused = token.generation
                if isDelivery { notes.append(.tokenMissed(token.generation)) }
            }
            return silent(failure, moment)
        }
        tookWell(inbound, moment)
        switch finding {
        case .running where namesAnother(follow, inbound.response):
            let why = "the answer to a look names another operation than the one that the upstream had begun"
            operationEnded(.gone, .operationLost, why, inbound, moment)
        case .running:
            let asked = RetryAfter.parse(inbound.response.fields, wallSeconds: moment.wallSeconds)
            guard let wait = wait(asked, moment) else { return tooLong(inbound, moment) }
            forget(.running)
            lookLater(after: wait, moment)
        case .failed(let word):
            let saying = word.map { ": its status is \($0)" } ?? ""
            let why = "the operation that the upstream had begun has failed\(saying)"
            operationEnded(.failed, .operationFailed, why, inbound, moment)
        case .gone:
            let said = "the upstream answered \(inbound.response.status.rawValue)"
            guard follow.result == nil else { return unfetched(.operationLost, said, inbound, moment) }
            let why = "\(said): it does not have the operation that it had begun any more"
            operationEnded(.gone, .operationLost, why, inbound, moment)
        case .done: done(follow, inbound, moment)
        case .moved, .silent: break
        }
    }

    private mutating func done(_ follow: Follow, _ inbound: InboundResponse, _ moment: Moment) {
        let response = inbound.response
        let isSeeOther = response.status == 303
        let named = isSeeOther ? Following.Locator.field(.location) : follow.rules.settings.result
        if follow.result == nil, let place = named {
            switch OperationAddress(place, response, base: sentTo, at: plan.upstream, follow.rules.settings) {
            case .target(let target, _)?:
                questions?.follow?.result = target
                questions?.follow?.elsewhere = nil
                forget(.running)
                step = .begin
                return
            case .refused(let why)?:
                return unfetched(.followRefused, "its address is not followed: \(why)", inbound, moment)
            case nil: break
            }
        }
        recovery.lookUpEnded(.done, status: response.status, exchange: inbound.exchange, at: moment.now)
        let outcome = outgoing(response)
        takeRequest()
        questions?.follow = nil
        if let attempt = recovery.attempts.last { notes.append(.lookedUp(attempt)) }
        answer = nil
        accept(outcome, from: .followed)
    }

    /// The operation came to an end that is no success, and the rules decide about the job.
    private mutating func operationEnded(
        _ word: LookUp,
        _ kind: FailureKind,
        _ why: String,
        _ inbound: InboundResponse,
        _ moment: Moment
    ) {
        var failure = Failure(kind, sent: .answered, why, status: inbound.response.status)
        failure.exchange = inbound.exchange
        let last = outgoing(inbound.response)
        // A failure must not look like a success to whoever reads the status alone.
        answer = isDelivery || last.status.rawValue >= 400 ? last : nil
        operationEnded(word, failure, moment)
    }

    private mutating func operationEnded(_ word: LookUp, _ failure: Failure, _ moment: Moment) {
        takeRequest()
        let named = judge.named(failure)
        recovery.lookUpEnded(word, named, at: moment.now)
        let isEarlier = questions?.follow?.operation.isEarlier == true
        questions?.follow = nil
        redirect = nil
        // An operator has the job sent again, of which nothing goes on.
        if isEarlier, word == .failed || word == .gone, recovery.attemptsLeft > 0 {
            if let attempt = recovery.attempts.last { notes.append(.lookedUp(attempt)) }
            return begin(after: named, moment)
        }
        step = .recall(named, nil)
    }

    /// The operation is done, and nobody gets its result.
    private mutating func unfetched(
        _ kind: FailureKind,
        _ why: String,
        _ inbound: InboundResponse,
        _ moment: Moment
    ) {
        operationEnded(.done, kind, Follow.unfetched + why, inbound, moment)
    }

    /// The upstream sends the look elsewhere, where its answer counts as one from the operation's own address.
    ///
    /// - Returns: false where it does not say where to, or has done so too often.
    private mutating func moved(
        _ follow: Follow,
        _ failure: Failure,
        _ inbound: InboundResponse,
        _ moment: Moment
    ) -> Bool {
        let settings = follow.rules.settings
        switch OperationAddress(
            .field(.location),
            inbound.response,
            base: sentTo,
            at: plan.upstream,
            settings
        ) {
        case .target(let target, _)?:
            guard follow.moves < Redirect.limit else { return false }
            tookWell(inbound, moment)
            questions?.follow?.elsewhere = target
            questions?.follow?.moves += 1
            forget(.running)
            step = .begin
        case .refused(let why)?:
            tookWell(inbound, moment)
            let fault = "the address that a look is sent on to is not followed: \(why)"
            if follow.result != nil {
                unfetched(.followRefused, fault, inbound, moment)
            } else {
                operationEnded(.unanswered, .followRefused, fault, inbound, moment)
            }
        case nil: return false
        }
        return true
    }

    /// Whether an answer that says that the operation goes on names another one, in the field that named the first.
    ///
    /// Many repeat the address, some with another query; what a document names there may be anything.
    private func namesAnother(_ follow: Follow, _ response: HTTPResponse) -> Bool {
        let monitor = follow.operation.isMonitor ? OperationAddress.operationLocation : .location
        let place = follow.rules.settings.location ?? monitor.map { .field($0) }
        guard case .field? = place else { return false }
        let settings = follow.rules.settings
        switch OperationAddress(place, response, base: sentTo, at: plan.upstream, settings) {
        case .target(let target, _)?:
            let path = target.prefix { $0 != "?" }
            // A look may have been sent on.
            return [follow.operation.target, follow.elsewhere].allSatisfy {
                $0?.prefix { $0 != "?" } != path
            }
        // Nothing is asked there: proxies name the same operation by another origin.
        case .refused?, nil: return false
        }
    }

    /// The time of the operation is over: it goes on, or the upstream does not say.
    private mutating func tooLong(_ inbound: InboundResponse?, _ moment: Moment) {
        guard let follow = questions?.follow else { return }
        let limit = "within follow.timeout (\(DurationText.text(follow.rules.settings.timeout)))"
        let (word, what): (LookUp, String) =
            if follow.result != nil {
                (.done, Follow.unfetched + "it did not come " + limit)
            } else if inbound != nil {
                (.running, "the operation was not over " + limit)
            } else {
                (.unanswered, "the upstream did not say \(limit) how the operation ended")
            }
        answer = nil
        var failure = Failure(.operationLost, sent: .answered, what, status: inbound?.response.status)
        failure.exchange = inbound?.exchange
        operationEnded(word, failure, moment)
    }

    /// The wait before the next look; nil where there is to be none.
    private func wait(_ asked: Duration?, _ moment: Moment) -> Duration? {
        guard let follow = questions?.follow else { return nil }
        let (settings, age) = (follow.rules.settings, follow.operation.age(moment.wall))
        // A caller that waits has its own time.
        if isDelivery, age >= settings.timeout { return nil }
        return bounded(settings, age: age, asked, moment)
    }

    /// The wait, which leaves a kept job time for a last look before the operation's is over, and before its own is.
    private func bounded(
        _ settings: Following,
        age: Duration,
        _ asked: Duration?,
        _ moment: Moment
    ) -> Duration {
        let wait = settings.wait(age: age, asked)
        guard isDelivery else { return wait }
        let left = moment.now.duration(to: recovery.deadline)
        let last = left - min(.seconds(1), left / 2)
        return min(last >= settings.interval ? min(wait, last) : wait, settings.timeout - age)
    }

    /// The look comes off the record: it said what was known.
    private mutating func forget(_ word: LookUp) {
        recovery.lookUpForgotten()
        notes.append(.looked(word))
        takeRequest()
        redirect = nil
    }

    /// The look came to nothing, and is tried again; the first of several that fail alike is on record.
    private mutating func silent(_ failure: Failure, _ moment: Moment) {
        guard let follow = questions?.follow else { return }
        guard let wait = wait(failure.retryAfter, moment) else { return tooLong(nil, moment) }
        questions?.follow?.result = nil
        let known = follow.operation.trouble
        if follow.operation.looks >= BegunOperation.mostLooks
            || known?.kind == failure.kind && known?.status == failure.status
        {
            forget(.unanswered)
        } else {
            questions?.follow?.operation.trouble = failure
            questions?.follow?.operation.looks += 1
            recovery.lookUpEnded(.unanswered, failure, at: moment.now)
            recovery.followsOn(after: wait)
            if let attempt = recovery.attempts.last { notes.append(.lookedUp(attempt)) }
            takeRequest()
            redirect = nil
        }
        lookLater(after: wait, moment)
    }

    /// The look could not be taken, or had no answer.
    mutating func lookFailed(_ failure: Failure, _ moment: Moment) {
        say(failure, nil, moment)
        if let ending = endOfInterruptedLookUp(failure, moment) {
            recovery.lookUpForgotten()
            takeRequest()
            return end(ending, nil)
        }
        if moment.isCancelled || failure.kind == .cancelled {
            forget(.unanswered)
            return stopped(after: Follow.running, moment)
        }
        // Each look would have as much to say.
        if failure.kind == .httpResponseBodySize {
            answer = nil
            let isDone = questions?.follow?.result != nil
            let what = isDone ? Follow.unfetched : "of the operation: "
            var lost = Failure(.operationLost, sent: .answered, what + failure.detail)
            lost.exchange = failure.exchange
            return operationEnded(isDone ? .done : .unanswered, lost, moment)
        }
        silent(failure, moment)
    }

    /// The look may not be taken now.
    mutating func lookHeld(_ hold: AttemptDeferral, _ moment: Moment) {
        if mayWait(for: hold, moment) {
            step = .hold(hold)
        } else if isDelivery {
            recovery.lookUpForgotten()
            takeRequest()
            waitAgain(hold.until, nil, moment)
        } else {
            lookFailed(hold.failure(moment.now), moment)
        }
    }

    private mutating func tookWell(_ inbound: InboundResponse, _ moment: Moment) {
        if !context.route.isWithoutTraffic {
            feedback = AttemptFeedback(inbound.response, wallMilliseconds: moment.wall)
        }
        if canRefresh, let token { notes.append(.tokenAccepted(token.generation)) }
    }
}
