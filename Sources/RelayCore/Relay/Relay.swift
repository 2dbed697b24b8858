package import RelayBase
import RelayJobs
import RelayRoute

/// Runs one request through preparation, attempts and recovery to its one outcome.
///
/// The same code serves the daemon and programs that use the library: what differs is behind the ports. Decisions are
/// made in `ExecutionMachine`; here is only the waiting.
package final class Relay: Sendable {
    package let ports: RelayPorts
    /// Fields every attempt carries, such as `Via`.
    private let added: HeaderFields
    /// The same for who names its own agent, made once.
    private let addedBesideAgent: HeaderFields

    package init(ports: RelayPorts, added: HeaderFields = HeaderFields()) {
        self.ports = ports
        self.added = added
        var others = added
        others.remove(.userAgent)
        addedBesideAgent = others
    }

    /// Runs one request that is not durable, and tells of its end; its time counts from `began`, by default from now.
    package func perform(
        _ request: HTTPRequest,
        context: JobContext,
        vault: CredentialVault,
        since began: Instant? = nil,
        turn: AnswerTurn? = nil
    ) async -> Outcome {
        let outcome: Outcome
        switch await beginAny(request, context, vault, since: began) {
        case .failure(let failure):
            outcome = Outcome(context, failure, sentOnceBecause: request.body.sentOnceBecause)
        case .success(let execution):
            execution.turn = turn
            await run(execution)
            // The fate of content that goes to a program is between the program and the content's source.
            execution.answerEnded(.whole)
            outcome = execution.outcome
        }
        ports.sink.record(.ended(outcome.report))
        return outcome
    }

    /// Begins a job, which `run` drives from there; a body that has to be in memory is collected first.
    package func beginAny(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Instant? = nil,
        moved: Duration = .zero
    ) async -> Result<Execution, Failure> {
        needsCollecting(request, context)
            ? await beginCollected(request, context, vault, since: began, moved: moved)
            : begin(request, context, vault, since: began, moved: moved)
    }
}

// Each wait is a function of its own and not inlined: a job's frames are then no larger than the wait it is in.
extension Relay {
    /// Drives a job from where it stands to its end; `leaving` is called when it is done with its upstream before that.
    package func run(_ execution: Execution, leaving: () -> Void = {}) async {
        if let again = execution.again.take() { await sendAgain(execution, again) }
        while true {
            execution.advance()
            switch execution.machine.step {
            case .send:
                if let log = execution.machine.context.history?.log, await !record(execution, in: log) {
                    continue
                }
                await send(execution)
            case .hold, .wait: await pause(execution)
            case .token: await obtainToken(execution)
            case .collect(let collecting): await collect(collecting, execution)
            case .keep:
                leaving()
                await keep(execution)
            case .prepare: await prepare(execution)
            case .consult(let strategy, let failure): await consult(strategy, about: failure, execution)
            case .leave, .begin, .classify, .recover, .name, .recall, .accept: break
            case .end: return
            }
        }
    }

    /// Puts the attempt that comes next on record.
    ///
    /// - Returns: whether it may be sent.
    @inline(never)
    private func record(_ execution: Execution, in log: any AttemptLog) async -> Bool {
        let attempts = execution.machine.recovery.attempts
        guard let attempt = attempts.last else { return true }
        do throws(Failure) {
            if try await log.begin(attempt, after: attempts.dropLast()) {
                ports.sink.record(.attemptBegan(execution.machine.context, attempt))
            }
            return true
        } catch {
            execution.machine.failed(error, execution.moment)
            return false
        }
    }

    @inline(never)
    private func send(_ execution: Execution) async {
        do throws(Failure) {
            let request = try execution.machine.outbound(execution.moment, signer: ports.signer)
            let inbound = try await ports.transport.send(request)
            execution.machine.received(inbound, execution.moment)
        } catch {
            execution.machine.failed(error, execution.moment)
        }
    }

    @inline(never)
    private func sendAgain(
        _ execution: Execution,
        _ again: @Sendable () async throws(Failure) -> InboundResponse
    ) async {
        do throws(Failure) {
            let inbound = try await again()
            execution.machine.received(inbound, execution.moment)
        } catch {
            execution.machine.failed(error, execution.moment)
        }
    }

    @inline(never)
    private func collect(_ collecting: ExecutionMachine.Collecting, _ execution: Execution) async {
        guard case .stream(let content) = collecting.inbound.response.body else { return }
        content.bound(by: execution.end)
        let half = boundingHalf(content, limit: collecting.limit)
        let limit = half ?? collecting.limit
        guard await findRoom(for: content, limit: limit, execution) else { return }
        let began = ports.time.now()
        let timeouts = execution.machine.context.route.policy.timeouts
        let source: any BodySource =
            content.length == nil ? PacedBody(content, timeouts, ports.time) : content
        do throws(Failure) {
            guard collecting.passesRest else {
                let bytes = try await Body.stream(source).collect(limit: limit, key: collecting.key)
                execution.room?.shrink(to: bytes.count)
                execution.machine.contentMoved(for: began.duration(to: ports.time.now()))
                return execution.machine.collected(.bytes(bytes), execution.moment)
            }
            let (beginning, isWhole) = try await source.beginning(limit: limit)
            execution.room?.shrink(to: beginning.count)
            execution.machine.contentMoved(for: began.duration(to: ports.time.now()))
            if isWhole { return execution.machine.collected(.bytes(beginning), execution.moment) }
            // Like any other stream it may take as long as it goes on.
            content.bound(by: .distantFuture)
            execution.machine.collected(.stream(ContinuedBody(beginning, content)), execution.moment)
        } catch {
            execution.machine.contentMoved(for: began.duration(to: ports.time.now()))
            if let half, error.kind == .httpResponseBodySize {
                return execution.machine.foundNoRoom(half + 1, half: half, execution.moment)
            }
            execution.machine.collectingFailed(error, execution.moment)
        }
    }

    /// Makes a kept job of the request, whose caller has its answer only then.
    @inline(never)
    private func keep(_ execution: Execution) async {
        guard let keeper = execution.keeper, let kept = execution.machine.toBeKept(execution.moment) else {
            return execution.machine.notKept("there is no job store", execution.moment)
        }
        switch await keeper.keep(kept.body, kept.past) {
        case .kept(let job): execution.machine.kept(job, execution.moment)
        case .refused(let reason): execution.machine.notKept(reason, execution.moment)
        }
    }

    @inline(never)
    private func pause(_ execution: Execution) async {
        guard let until = execution.pauseBegins() else { return }
        do throws(CancellationError) {
            try await ports.time.sleep(until: until)
            execution.pauseEnds(isCancelled: false)
        } catch {
            execution.pauseEnds(isCancelled: true)
        }
    }

    /// Begins a job, which `goOn` and `run` drive from there; its time counts from `began`, by default from now, without
    /// that in which its content has `moved`.
    @inline(never)
    package func begin(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Instant? = nil,
        moved: Duration = .zero
    ) -> Result<Execution, Failure> {
        do throws(Failure) {
            // Without a name it is not copied.
            return .success(
                Execution(
                    try ExecutionMachine(
                        request,
                        context,
                        added: addedFields(for: request),
                        canRefresh: canRefresh(context.route, vault),
                        refused: context.history == nil ? nil : context.memory.takeRefusal(of: context.id),
                        isConstrained: ports.isConstrained(for: context.route),
                        since: began,
                        moved: moved,
                        ports.moment
                    ),
                    ports: ports,
                    vault: vault
                )
            )
        } catch {
            return .failure(error)
        }
    }

    func addedFields(for request: HTTPRequest) -> HeaderFields {
        request.fields.contains(.userAgent) ? addedBesideAgent : added
    }

    func canRefresh(_ route: Route, _ vault: CredentialVault) -> Bool {
        guard let authentication = route.policy.authentication else { return false }
        return vault.canRefresh(authentication.credential)
    }
}
