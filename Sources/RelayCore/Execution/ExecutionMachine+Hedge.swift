import RelayBase
import RelayJobs
import RelayRoute

// A second sending of the attempt under way, which never changes the step.
extension ExecutionMachine {
    /// A second sending, before it is known which of the two counts.
    struct SecondSending: Sendable {
        let plan: RecoveryMachine.Plan
        let attempt: Attempt
        let began: Instant
    }

    /// Whether the attempt may be sent a second time while it is under way; mutating, so that the machine is not copied
    /// for it.
    ///
    /// Nobody waits for the milliseconds of a kept job, and a second sending might begin a second operation.
    var mayHedge: Bool {
        mutating get {
            !isDelivery && !isLookingUp && questions == nil && context.route.follow == nil && redirect == nil
                && preparation.body.isAtHand
                && RepeatableMethods.idempotentOrKeyed.allow(
                    preparation.method,
                    isKeyed: recovery.options.hasIdempotencyKey
                )
        }
    }

    /// The upstreams that the second sending may go to, as indices: first the one that is named, unless it failed a moment
    /// ago.
    mutating func hedgeTargets(_ hedging: Hedging, _ cooling: [Int]) -> [Int] {
        let own = plan.upstreamIndex
        guard context.options.allowsFallback, let name = hedging.upstream,
            let other = context.route.policy.upstreams.firstIndex(where: { $0.name == name }), other != own,
            !cooling.contains(other)
        else { return [own] }
        return [other, own]
    }

    /// Makes the second sending of the attempt, to that upstream.
    mutating func second(
        at upstreamIndex: Int,
        _ moment: Moment,
        signer: (any MessageSigner)?
    ) throws(Failure) -> (SecondSending, OutboundRequest) {
        let upstream = context.route.policy.upstreams[upstreamIndex]
        let plan = RecoveryMachine.Plan(
            number: plan.number + 1,
            upstream: upstream,
            upstreamIndex: upstreamIndex,
            deadline: plan.deadline,
            limit: plan.limit,
            end: plan.end
        )
        let request = try preparation.attempt(
            plan,
            token: token,
            wallSeconds: moment.wallSeconds,
            signer: signer
        )
        let attempt = Attempt(number: plan.number, upstream: upstream.name, beganAt: moment.wall)
        return (SecondSending(plan: plan, attempt: attempt, began: moment.now), request)
    }

    /// The attempt was late and was not sent a second time.
    mutating func notHedged(_ refusal: HedgeRefusal) { recovery.notHedged(refusal) }

    /// The failure that an answer is by its head alone; nil where it is taken, or sent on to another place.
    ///
    /// Where content is looked into, the status decides who is first.
    mutating func failure(byHeadOf inbound: InboundResponse, _ moment: Moment) -> Failure? {
        let status = inbound.response.status
        if context.route.policy.response.redirects == .follow, status.isRedirection, status != 304 {
            return nil
        }
        var head = inbound
        if judge.needsBody(status) {
            if context.route.policy.success.statuses.contains(status) { return nil }
            head.response.body = .empty
        }
        switch judge.judge(head, wallSeconds: moment.wallSeconds) {
        case .success, .quickRecovered: return nil
        case .refused(let failure), .invalid(let failure): return failure
        }
    }

    /// One of two sendings is the attempt's end; the other goes on record before it, with its failure.
    ///
    /// - Returns: the record of the other.
    mutating func raced(
        _ second: SecondSending,
        isSecondJudged: Bool,
        other failure: Failure,
        blamed: FailureCause?,
        took: Duration
    ) -> Attempt {
        if isSecondJudged { plan = second.plan }
        var named = failure.kind == .cancelled ? failure : judge.named(failure)
        if let blamed, blamed != .tooMany || recovery.sparesRefusals { named.blamed = blamed }
        return recovery.raced(second, isSecondJudged: isSecondJudged, other: named, took: took)
    }
}

extension RecoveryMachine {
    mutating func notHedged(_ refusal: HedgeRefusal) {
        guard !attempts.isEmpty else { return }
        attempts[attempts.count - 1].heldBack.append(
            HeldBack(rule: "hedge", reason: .notHedged(refusal.text))
        )
    }

    /// Whether the job may be sent once more beside the attempt that is under way.
    var mayBeSentTwice: Bool { countedAttempts + 1 < maxAttempts }

    /// Puts the other of two sendings on record, before the one that is the attempt's end.
    fileprivate mutating func raced(
        _ second: ExecutionMachine.SecondSending,
        isSecondJudged: Bool,
        other failure: Failure,
        took: Duration
    ) -> Attempt {
        var other = isSecondJudged ? attempts.removeLast() : second.attempt
        (other.duration, other.status, other.exchange) = (took, failure.status, failure.exchange)
        (other.failure, other.next) = (failure, .hedge)
        if isSecondJudged {
            attempts.append(second.attempt)
            // The limits of the attempt count from the first.
            sentAt = second.began
        }
        attempts.insert(other, at: attempts.count - 1)
        if failure.sent == .neverSent {
            if failure.kind != .cancelled { unsentAttempts += 1 }
        } else {
            countedAttempts += 1
        }
        let place = second.plan.upstreamIndex
        if place != 0, !entered.contains(place), isSecondJudged || failure.kind != .cancelled {
            entered.append(place)
        }
        if failure.sent.mayHaveActed, !method.isIdempotent { needsKey = true }
        return other
    }
}
