import RelayBase
import RelayJobs
import RelayRoute

// Where a request that somebody waits for and the run of a durable job part: nowhere else.
extension ExecutionMachine {
    /// Whether it is one run of a durable job, which ends with the first wait; somebody waits for the answer of any other.
    var isDelivery: Bool { context.history != nil }

    /// Whether an answer is wanted in memory whatever it is.
    var collectsAll: Bool { isDelivery || context.options.collectsAnswer }

    /// An answer that only looks like a success: no caller gets it, and the record of a durable job does.
    mutating func keepInvalid(_ response: HTTPResponse) {
        if isDelivery { answer = outgoing(response) }
    }

    /// Gives up the last answer; that of a run is kept, whatever comes after it.
    mutating func discard() {
        if isDelivery { return }
        notes.append(.dropped(answer?.body ?? .empty, wasKept: true))
        answer = nil
    }

    /// Gives up the last answer of a request, unless its content is at hand: it is what the caller gets where nothing more
    /// is sent.
    mutating func discardStreamed() {
        switch answer?.body {
        case .bytes, .empty: break
        case .stream, nil: discard()
        }
    }

    /// There is no room for the answer that was to be collected: not for `wanted` bytes where one may have `half`.
    package mutating func foundNoMemory(_ wanted: Int, half: Int, _ moment: Moment) {
        guard case .collect(let collecting) = step else { return }
        // That a job was delivered matters more than what it was answered.
        if isDelivery, !isLookingUp, !judge.needsBody(collecting.inbound.response.status) {
            lacksContent = true
            return collected(.bytes([]), moment)
        }
        guard !moment.isCancelled else {
            return collectingFailed(Failure(.cancelled, sent: .unknown, "the caller went away"), moment)
        }
        let reason =
            wanted > half
            ? "may take \(half) (half of limits.memory)"
            : "found no room (limits.memory) within \(plan.limit.text)"
        var failure = Failure(
            .overloaded,
            sent: .answered,
            "the answer needs \(wanted) bytes of memory and \(reason)",
            exchange: collecting.inbound.exchange
        )
        if wanted <= half { failure.retryAfter = .seconds(1) }
        collectingFailed(failure, moment)
    }

    /// The failure as the rules are asked about it: who has gone away ends a request whatever it came to, and what the
    /// upstream has answered a durable job stands.
    func decidable(_ failure: Failure, _ moment: Moment) -> Failure {
        guard !isDelivery, moment.isCancelled, failure.kind != .cancelled else { return failure }
        return Failure(.cancelled, sent: failure.sent, "the caller went away")
    }

    /// Another attempt after a wait, which of a run is the store's to keep.
    mutating func retry(at: Instant, _ failure: Failure, _ moment: Moment) {
        if isDelivery { return end(.retry(after: moment.now.duration(to: at), .backoff), failure) }
        discardStreamed()
        isRetry = true
        step = .wait(until: at, failure)
    }

    mutating func deadLetter(_ failure: Failure, _ moment: Moment) {
        guard isDelivery else { return ended(failure, moment) }
        end(.dead(recovery.endOfGivenUp(failure) ?? .rejected), failure)
    }

    mutating func pauseRoute(_ reason: String, _ failure: Failure, _ moment: Moment) {
        guard isDelivery else {
            notes.append(.pauseWanted(reason))
            return ended(failure, moment)
        }
        // The end of a pause decides about the route, not about what became of this job.
        let ending = recovery.endOfUnsafe(failure).map { Settlement.Ending.dead($0) }
        end(ending ?? .held(.routePaused), failure, pauseReason: reason)
    }

    mutating func hold(_ failure: Failure, _ moment: Moment) {
        if isDelivery { end(.held(.operatorHold), failure) } else { ended(failure, moment) }
    }

    /// No rule has anything left.
    mutating func gaveUp(_ failure: Failure, _ moment: Moment) {
        guard isDelivery else {
            step = .end(.failed(failure))
            return
        }
        if let end = recovery.endOfGivenUp(failure) { return self.end(.dead(end), failure) }
        if failure.kind == .preparation { return end(.dead(.rejected), failure) }
        end(moment.now < recovery.deadline ? .dead(.exhausted) : .expired, failure)
    }

    /// Whether an attempt waits for its leave where it stands: a request as long as it has time, and a run in the middle,
    /// which would spend what it has done so far.
    func mayWait(for hold: AttemptDeferral, _ moment: Moment) -> Bool {
        guard hold.mayBeWaitedFor, !hold.isTooLate, let deadline = deadlineOfWaits(moment) else {
            return false
        }
        return hold.until < deadline
    }

    /// Before when the wait of an attempt has to be over; nil where none waits.
    func deadlineOfWaits(_ moment: Moment) -> Instant? {
        guard isDelivery else { return recovery.deadline }
        guard recovery.attempts.count > 1 else { return nil }
        return min(recovery.deadline, moment.now.advanced(by: Self.longestHoldOfRun))
    }

    /// Whether an earlier attempt was more than held back, or refused, by a rule of the relay's own.
    package var hasSent: Bool {
        recovery.attempts.dropLast().contains { $0.failure?.isOwnRefusal != true }
    }

    /// The attempt as it asks for leave; `slotIndex` is the upstream, as an index, with which it has a turn.
    ///
    /// Changes nothing: whoever only reads a machine that an object holds has a copy of it made first.
    mutating func asking(_ moment: Moment, hasBudget: Bool, slotIndex: Int?) -> RouteTrafficMachine.Asking {
        let isElsewhere = recovery.attempts.count > 1
        let hasSent = isElsewhere && hasSent
        let kind: RouteTrafficMachine.Kind =
            if hasBudget { .retry } else if hasSent { .another } else {
                recovery.history?.attempts ?? 0 > 0 ? .keptRetry : .first
            }
        return RouteTrafficMachine.Asking(
            kind: kind,
            upstreamIndex: plan.upstreamIndex,
            isKept: isDelivery,
            isElsewhere: isElsewhere,
            slot: slotIndex == plan.upstreamIndex
                ? .taken : deadlineOfWaits(moment).map { .wanted(before: $0) } ?? .none
        )
    }

    private static let longestHoldOfRun: Duration = .seconds(60)

    /// Whether the job waits until it may send where nothing takes it elsewhere.
    func waits(_ moment: Moment) -> Bool { isDelivery || hold.map { mayWait(for: $0, moment) } ?? false }

    /// No other upstream takes the attempt that was held back.
    mutating func waitHere(_ failure: Failure, _ moment: Moment) {
        guard let hold, mayWait(for: hold, moment) else { return waitFor(failure, moment) }
        recovery.attemptReprieved(plan)
        step = .hold(hold)
    }

    /// A run waits until it may send; nothing is spent on that.
    ///
    /// One that has sent something is due when it may go on, as after any failure, so that it does not begin anew at once;
    /// while the route is closed, whose end another configuration may change, it is due at once and waits for its route.
    mutating func waitFor(_ failure: Failure, _ moment: Moment) {
        let until = failure.kind == .routeClosed ? moment.now : hold?.until ?? moment.now
        recovery.attemptInterrupted(failure, at: moment.now)
        waitAgain(until, failure, moment)
    }

    /// The same once what was not sent is off the record.
    mutating func waitAgain(_ until: Instant, _ failure: Failure?, _ moment: Moment) {
        guard recovery.attempts.isEmpty else {
            return end(.retry(after: max(.seconds(1), moment.now.duration(to: until)), .backoff), failure)
        }
        end(requeued(hold?.reason.waitReason), failure)
    }

    /// How a run ends whose question comes to nothing through no fault of its own; nil of any other.
    mutating func endOfInterruptedLookUp(_ failure: Failure, _ moment: Moment) -> Settlement.Ending? {
        guard isDelivery else { return nil }
        switch failure.kind {
        case .credentialsFailed where failure.sent == .neverSent:
            if let refused { notes.append(.tokenMissed(refused)) }
            return requeued(.credentials)
        case .overloaded where failure.sent == .neverSent: return requeued(nil)
        case .attemptUnrecorded, .cancelled: return requeued(nil)
        default: return moment.isCancelled ? requeued(nil) : nil
        }
    }

    /// A run waits until the network is not constrained any more; nothing is spent on that.
    mutating func waitForNetwork(_ moment: Moment) {
        let failure = Failure.networkConstrained(context, .wait)
        recovery.attemptInterrupted(failure, at: moment.now)
        guard recovery.attempts.isEmpty else { return end(.retry(after: .seconds(1), .backoff), failure) }
        end(.held(.networkConstrained), failure)
    }

    /// Whether a kept job failed only since the upstream refuses the credential, of which the route may get another, and no
    /// rule ends it for that.
    func awaitsCredential(_ failure: Failure) -> Bool {
        guard isDelivery, canRefresh, token != nil, !failure.isOfOperation,
            recovery.refusesCredential(failure)
        else { return false }
        // A request that may have been carried out and may not be repeated is not refused, whatever the route calls it.
        return recovery.attempts.last?.rule == nil && recovery.endOfUnsafe(failure) == nil
    }

    /// It goes on once the upstream takes a credential of the route, and nothing is spent on that.
    mutating func waitForCredential(_ refusal: Failure, _ moment: Moment) {
        var failure = Failure(
            .credentialsFailed,
            sent: refusal.sent,
            "the upstream refuses the route's credential, also when it was fetched anew: \(refusal.detail)",
            status: refusal.status
        )
        failure.exchange = refusal.exchange
        recovery.attemptInterrupted(failure, at: moment.now)
        if let attempt = recovery.attempts.last { notes.append(.attemptFailed(attempt)) }
        end(requeued(.credentials), failure)
    }

    /// Nobody wants the job any more, which waited after that failure.
    mutating func stopped(after failure: Failure, _ moment: Moment) {
        if isDelivery { return end(endOfStopped(failure), failure) }
        ended(Failure(.cancelled, sent: failure.sent, "the caller went away"), moment)
    }

    /// Ends a run after what is neither the upstream's failure nor the request's: no rule is asked.
    ///
    /// - Returns: whether the failure was such a one.
    mutating func interrupted(by found: Failure, _ moment: Moment) -> Bool {
        guard isDelivery else { return false }
        var failure = behindRedirect(found)
        let wasSent = failure.sent != .neverSent
        let ending: Settlement.Ending
        switch failure.kind {
        case .credentialsFailed where !wasSent:
            if let refused { notes.append(.tokenMissed(refused)) }
            ending = requeued(.credentials)
        case .overloaded where !wasSent, .attemptUnrecorded: ending = requeued(nil)
        case .storedBodyCorrupt: ending = .dead(.corrupt)
        // The content of a kept job comes from the disk.
        case .cancelled, .storedBodyUnread, .httpRequestError: ending = endOfStopped(failure)
        default:
            // An answer that is there stands, and the rules decide about it.
            guard moment.isCancelled, failure.sent != .answered, failure.sent != .refused else {
                return false
            }
            let exchange = failure.exchange
            failure = Failure(.cancelled, sent: failure.sent, "the run of the job was stopped")
            failure.exchange = exchange
            ending = endOfStopped(failure)
        }
        say(failure, nil, moment)
        recovery.attemptInterrupted(failure, at: moment.now)
        if case .retry(let wait, _) = ending {
            recovery.attempts[recovery.attempts.count - 1].next = .verify(after: wait)
        }
        if failure.sent != .neverSent, let attempt = recovery.attempts.last {
            notes.append(.attemptFailed(attempt))
        }
        end(ending, failure)
        return true
    }

    /// The next run asks about an attempt that was cut off on its way, where the upstream can be asked.
    private func endOfStopped(_ failure: Failure) -> Settlement.Ending {
        if failure.sent.mayHaveActed, let inquiry, !recovery.attempts.isEmpty {
            return .retry(after: inquiry.settings.settleAfter, .backoff)
        }
        return recovery.endOfUnsafe(failure).map { .dead($0) } ?? requeued(nil)
    }

    /// Back among those that wait, for a reason that is not the job's.
    ///
    /// Where the gate of the route says when, the job that waited longest is the next, unless others go on.
    private func requeued(_ reason: WaitReason?) -> Settlement.Ending {
        let hasGate =
            reason == .credentials || reason == .breakerOpen || reason == .rateLimited
            || reason == .routeClosed
        return .requeued(after: hold?.pause ?? (hasGate ? .zero : .seconds(1)), reason)
    }

    mutating func end(_ ending: Settlement.Ending, _ failure: Failure?, pauseReason: String? = nil) {
        step = .end(.undelivered(ending, failure, pauseReason: pauseReason))
    }
}
