import RelayBase
import RelayJobs
import RelayRoute

// Each wait is a function of its own and not inlined: a job's frames are then no larger than the wait it is in.
extension Execution {
    /// Drives a job from where it stands to its end; `holder` gives its permit back while it needs none.
    package func run(_ holder: (any PermitHolder)? = nil) async {
        if let again = resend.take() { await send(again) }
        while true {
            advance()
            switch machine.step {
            case .send:
                if let log = context.history?.log, await !record(in: log) { continue }
                if context.route.hedges, machine.mayHedge { await hedge() } else { await send() }
            case .hold, .wait:
                if let holder, machine.isFollowing { await pause(holder) } else { await pause() }
            case .token: await obtainToken()
            case .collect(let collecting): await collect(collecting)
            case .keep:
                holder?.giveBackPermit()
                await keep()
            case .prepare: await prepare()
            case .consult(let strategy, let failure): await consult(strategy, about: failure)
            case .grant, .begin, .classify, .recover, .name, .recall, .accept: break
            case .end:
                if machine.owesStop, !ports.isStopping() {
                    holder?.giveUp()
                    await stopOperation()
                }
                return
            }
        }
    }

    /// Puts the attempt that comes next on record.
    ///
    /// - Returns: whether it may be sent.
    @inline(never)
    private func record(in log: any AttemptLog) async -> Bool {
        let attempts = machine.recovery.attempts
        guard let attempt = attempts.last else { return true }
        do throws(Failure) {
            if try await log.begin(attempt, after: attempts.dropLast()) {
                ports.sink.record(.attemptBegan(context, attempt))
            }
            return true
        } catch {
            machine.failed(error, moment)
            return false
        }
    }

    /// Sends the attempt, or has it go on `again`.
    @inline(never)
    private func send(
        _ again: (@Sendable () async throws(Failure) -> InboundResponse)? = nil
    ) async {
        do throws(Failure) {
            let inbound =
                if let again { try await again() } else {
                    try await ports.transport.send(machine.outbound(moment, signer: ports.signer))
                }
            machine.received(inbound, moment)
        } catch {
            machine.failed(error, moment)
        }
    }

    @inline(never)
    private func collect(_ collecting: ExecutionMachine.Collecting) async {
        guard case .stream(let content) = collecting.inbound.response.body else { return }
        if collecting.beyond == .heldHead { return await hold(content, collecting.inbound) }
        content.bound(by: hardDeadline)
        let half = boundingHalf(content, limit: collecting.limit)
        let limit = half ?? collecting.limit
        guard await reserveMemory(for: content, limit: limit) else { return }
        let began = ports.time.now()
        let timeouts = context.route.policy.timeouts
        let source: any BodySource =
            content.length == nil ? PacedBody(content, timeouts, ports.time) : content
        do throws(Failure) {
            guard collecting.beyond == .passesThrough else {
                let bytes = try await Body.stream(source).collect(limit: limit, key: collecting.key)
                reservation?.shrink(to: bytes.count)
                machine.contentMoved(for: began.duration(to: ports.time.now()))
                return machine.collected(.bytes(bytes), moment)
            }
            let (beginning, isWhole) = try await source.beginning(limit: limit)
            reservation?.shrink(to: beginning.count)
            machine.contentMoved(for: began.duration(to: ports.time.now()))
            if isWhole { return machine.collected(.bytes(beginning), moment) }
            // Like any other stream it may take as long as it goes on.
            content.bound(by: .distantFuture)
            machine.collected(.stream(ContinuedBody(beginning, content)), moment)
        } catch {
            machine.contentMoved(for: began.duration(to: ports.time.now()))
            if let half, error.kind == .httpResponseBodySize {
                return machine.foundNoMemory(half + 1, half: half, moment)
            }
            machine.collectingFailed(error, moment)
        }
    }

    /// Makes a kept job of the request, whose caller has its answer only then.
    @inline(never)
    private func keep() async {
        guard let keeper, let kept = machine.toBeKept(moment) else {
            return machine.notKept("there is no job store")
        }
        switch await keeper.keep(kept.body, kept.past) {
        case .kept(let job): machine.kept(job)
        case .refused(let reason): machine.notKept(reason)
        }
    }

    @inline(never)
    private func pause() async {
        guard let until = beginPause() else { return }
        do throws(CancellationError) {
            try await ports.time.sleep(until: until)
            endPause(isCancelled: false)
        } catch {
            endPause(isCancelled: true)
        }
    }

    /// Waits for the next look at an operation, and for a permit for it.
    @inline(never)
    private func pause(_ holder: any PermitHolder) async {
        guard let until = beginPause() else { return }
        holder.giveBackPermit()
        do throws(CancellationError) {
            try await ports.time.sleep(until: until)
            let isPermitted = await holder.regainPermit(before: machine.recovery.deadline)
            if Task.isCancelled { throw CancellationError() }
            if isPermitted { endPause(isCancelled: false) } else { endPauseTooLate() }
        } catch {
            endPause(isCancelled: true)
        }
    }
}
