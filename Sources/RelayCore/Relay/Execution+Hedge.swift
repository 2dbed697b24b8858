import RelayBase
import RelayRoute

// A request that is late is sent a second time, while the first sending goes on.
extension Execution {
    private enum Event: Sendable {
        case due
        case ended(HedgeRace.Sending, Result<InboundResponse, Failure>)
        case none
    }

    /// A second sending, with its leave.
    private struct Second {
        let sending: ExecutionMachine.SecondSending
        let grant: AttemptGrant
    }

    /// The end of one of the two sendings.
    private struct End {
        let result: Result<InboundResponse, Failure>
        /// The failure that it is by its head; nil of a success.
        let failure: Failure?
        let at: Instant
        /// Whether the attempt had its end before.
        var isLate = false

        var raced: HedgeRace.End {
            guard let failure else { return .success }
            if failure.kind == .cancelled { return .cancelled }
            if failure.status == 409 { return .conflict }
            return failure.sent.mayHaveActed ? .doubt : .failure
        }
    }

    private struct Ends {
        var first: End?
        var second: End?

        subscript(sending: HedgeRace.Sending) -> End? {
            get { sending == .first ? first : second }
            set { if sending == .first { first = newValue } else { second = newValue } }
        }
    }

    /// Sends the attempt, and once more when it is late; the first success is its answer.
    @inline(never)
    func hedge() async {
        guard let hedging = context.route.policy.hedging else { return }
        let asked = machine.asked(of: context)
        let (place, began) = (machine.plan.upstreamIndex, ports.time.now())
        let traffic = context.memory.traffic
        do throws(Failure) {
            let first = try machine.outbound(moment, signer: ports.signer)
            if let late = traffic.lateness(hedging, asked, at: place), began.advanced(by: late) < deadline {
                return await race(first, asked, hedging, since: began, late: began.advanced(by: late))
            }
            let inbound = try await ports.transport.send(first)
            if machine.failure(byHeadOf: inbound, moment) == nil {
                traffic.took(began.duration(to: ports.time.now()), asked, at: place)
            }
            machine.received(inbound, moment)
        } catch {
            machine.failed(error, moment)
        }
    }

    private func race(
        _ first: OutboundRequest,
        _ asked: RequestClass,
        _ hedging: Hedging,
        since began: Instant,
        late: Instant
    ) async {
        let place = machine.plan.upstreamIndex
        let (transport, time) = (ports.transport, ports.time)
        var race = HedgeRace()
        var ends = Ends()
        var second: Second?
        var took: Duration?
        await withTaskGroup(of: Event.self) { group in
            group.addTask {
                .ended(.first, await Result { () async throws(Failure) in try await transport.send(first) })
            }
            group.addTask {
                do throws(CancellationError) { try await time.expire(at: late) } catch { return .none }
                return .due
            }
            for await event in group {
                switch event {
                case .none: break
                case .due:
                    guard race.isDue(), !Task.isCancelled, let (begun, request) = beginSecond(asked, hedging)
                    else { break }
                    second = begun
                    race.secondBegan()
                    group.addTask {
                        .ended(
                            .second,
                            await Result { () async throws(Failure) in try await transport.send(request) }
                        )
                    }
                case .ended(let sending, let result):
                    var end = End(result: result, failure: failure(byHeadOf: result), at: time.now())
                    let action = race.ended(sending, end.raced)
                    end.isLate = action == .late
                    ends[sending] = end
                    // A first that is given up had taken that long at least.
                    if end.failure == nil, took == nil, sending == .first || ends.first == nil {
                        took = began.duration(to: end.at)
                    }
                    if action == .judge { group.cancelAll() }
                }
            }
        }
        if let took { context.memory.traffic.took(took, asked, at: place) }
        guard let judged = race.judged, let end = ends[judged] else {
            preconditionFailure("a race without an end")
        }
        if let second, let other = ends[judged.other] {
            settle(
                second,
                other,
                isSecondJudged: judged == .second,
                isSuccess: end.failure == nil,
                since: began
            )
        }
        switch end.result {
        case .success(let inbound): machine.received(inbound, moment)
        case .failure(let failure): machine.failed(failure, moment)
        }
    }

    private func failure(byHeadOf result: Result<InboundResponse, Failure>) -> Failure? {
        switch result {
        case .success(let inbound): machine.failure(byHeadOf: inbound, moment)
        case .failure(let failure): failure
        }
    }

    /// Asks for leave of a second sending, and makes it; nil where there is none.
    private func beginSecond(_ asked: RequestClass, _ hedging: Hedging) -> (Second, OutboundRequest)? {
        let moment = moment
        switch permission(asked, hedging, moment) {
        case .withheld(let refusal): withheld(refusal)
        case .go(let grant, let slot):
            do throws(Failure) {
                let (sending, request) = try machine.second(
                    at: grant.upstreamIndex,
                    moment,
                    signer: ports.signer
                )
                if let unprepared = machine.unprepared {
                    context.hooks?.attemptBegan(sending.attempt, of: unprepared)
                }
                return (Second(sending: sending, grant: grant), request)
            } catch {
                context.memory.traffic.endedUnjudged(
                    grant,
                    of: context.route,
                    random: ports.entropy.next(),
                    moment.now.nanoseconds
                )
                context.memory.traffic.notHedged(slot, context.route, moment.now)
                withheld(.preparation)
            }
        }
        return nil
    }

    private func permission(
        _ asked: RequestClass,
        _ hedging: Hedging,
        _ moment: Moment
    ) -> RouteTrafficMachine.HedgeAnswer {
        guard machine.recovery.mayBeSentTwice else { return .withheld(.attempts) }
        if ports.isConstrained(for: context) { return .withheld(.constrained) }
        if context.route.closing(moment.now, wall: moment.wall) != nil { return .withheld(.closed) }
        let cooling = context.memory.cooling(context.route, now: moment.now)
        return context.memory.traffic.hedge(
            context.route,
            at: machine.hedgeTargets(hedging, cooling),
            asked,
            moment.now
        )
    }

    private func withheld(_ refusal: HedgeRefusal) {
        machine.notHedged(refusal)
        context.memory.meter.hedged(.withheld)
    }

    private static let outrun = "another sending of the attempt was answered first (hedge)"

    /// Both sendings are over: one of them is judged, and nothing but its own failure is said of the upstream of the other,
    /// whose content is nobody's.
    private func settle(
        _ second: Second,
        _ other: End,
        isSecondJudged: Bool,
        isSuccess: Bool,
        since began: Instant
    ) {
        let moment = moment
        var (sent, exchange, fields) = (Sent.answered, Exchange?.none, HeaderFields?.none)
        switch other.result {
        case .success(let inbound):
            if case .stream(let source) = inbound.response.body { source.cancel() }
            (exchange, fields) = (inbound.exchange, inbound.response.fields)
        case .failure(let failure): (sent, exchange) = (failure.sent, failure.exchange)
        }
        let own = other.isLate ? nil : other.failure
        let failure = own ?? Failure(.cancelled, sent: sent, Execution.outrun, exchange: exchange)
        let hasFailed = failure.kind != .cancelled
        let upstream = isSecondJudged ? machine.plan.upstream : second.sending.plan.upstream
        let took = (isSecondJudged ? began : second.sending.began).duration(to: other.at)
        let moved = exchange?.upload ?? .zero

        var word = AttemptFeedback()
        if hasFailed { word = machine.feedback(of: failure, fields, waited: took - moved, moment) }
        var ended: AttemptGrant? = second.grant
        if isSecondJudged { swap(&ended, &grant) }
        let blamed = ended.flatMap { end($0, word, moved) }
        let record = machine.raced(
            second.sending,
            isSecondJudged: isSecondJudged,
            other: failure,
            blamed: blamed,
            took: took
        )
        context.memory.traffic.hedgeEnded(context.route, moment.now)
        if hasFailed {
            ports.sink.record(.attemptFailed(context, record))
            if failure.saysUpstreamFailed, record.failure?.saysStop != true, !moment.isCancelled {
                context.memory.failed(upstream, now: moment.now)
            }
        }
        context.hooks?.decided(record)
        context.memory.meter.hedged(isSecondJudged && isSuccess ? .won : .lost)
    }

    /// Ends a sending that is not the attempt's end; the time in which its content `moved` says nothing of the upstream.
    ///
    /// - Returns: whose fault its failure is.
    private func end(_ given: AttemptGrant, _ word: AttemptFeedback, _ moved: Duration) -> FailureCause? {
        var grant = given
        grant.began = grant.began.advanced(by: moved)
        let verdict = context.memory.traffic.ended(
            grant,
            word,
            asked: { machine.asked(of: context) },
            of: context.route,
            random: ports.entropy.next(),
            ports.time.now()
        )
        record(verdict.change)
        return verdict.blamed
    }
}
