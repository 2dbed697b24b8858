/// Runs one request through preparation, attempts and recovery to its one outcome.
///
/// The same code serves the daemon and programs that use the library: what differs is behind the ports. What is
/// decided is decided in `Execution`; here is only the waiting.
package final class Relay: Sendable {
    package let ports: RelayPorts
    /// Fields every attempt carries, such as `Via`.
    private let added: HeaderFields

    package init(ports: RelayPorts, added: HeaderFields = HeaderFields()) {
        self.ports = ports
        self.added = added
    }

    /// Bodies of a known length up to this are collected before they are passed on where a rule may act on a truncated
    /// answer; anything else streams through.
    package static let collectLimit: UInt64 = 262_144

    /// Runs one request that is not durable; its time counts from `began`, by default from now.
    package func perform(
        _ request: HTTPRequest,
        context: JobContext,
        vault: CredentialVault,
        since began: Instant? = nil,
        turn: AnswerTurn? = nil
    ) async -> Outcome {
        var request = request
        if needsCollecting(request, context) {
            do throws(Failure) {
                request = try await collectedForSigning(request, context, since: began)
            } catch {
                return refused(context, error)
            }
        }
        let execution: Execution
        switch begin(request, context, vault, began) {
        case .success(let begun): execution = begun
        case .failure(let failure): return refused(context, failure)
        }
        execution.turn = turn
        await run(execution, vault)
        return execution.takeOutcome()
    }
}

// Each wait is a function of its own and not inlined: a job's frames are then no larger than the wait it is in.
extension Relay {
    func run(_ execution: Execution, _ vault: CredentialVault) async {
        while true {
            switch execution.step {
            case .send:
                if let log = execution.context.history?.log, await !record(execution, in: log) { continue }
                await send(execution)
            case .token: await obtainToken(execution, vault)
            case .collect: await collect(execution)
            case .wait: await wait(execution)
            case .prepare: await prepare(execution)
            case .consult(let strategy): await consult(strategy, execution)
            case .end: return
            }
        }
    }

    /// Puts the attempt that comes next on record.
    ///
    /// - Returns: whether it may be sent.
    @inline(never)
    private func record(_ execution: Execution, in log: any AttemptLog) async -> Bool {
        guard let attempt = execution.machine.attempts.last else { return true }
        do throws(Failure) {
            try await log.begin(attempt, after: execution.machine.attempts.dropLast())
            return true
        } catch {
            execution.failed(error)
            return false
        }
    }

    @inline(never)
    private func send(_ execution: Execution) async {
        do throws(Failure) {
            execution.received(try await ports.transport.send(execution.outbound()))
        } catch {
            execution.failed(error)
        }
    }

    @inline(never)
    private func collect(_ execution: Execution) async {
        guard let body = execution.uncollected?.response.body else { return }
        if case .stream(let source) = body { source.bound(by: execution.deadline) }
        guard await findRoom(for: body, execution) else { return }
        do throws(Failure) {
            guard execution.passesRest, case .stream(let source) = body else {
                let bytes = try await body.collect(
                    limit: execution.collectLimit,
                    key: execution.collectKey
                )
                execution.room?.shrink(to: bytes.count)
                return execution.collected(bytes)
            }
            let (beginning, isWhole) = try await source.beginning(limit: execution.collectLimit)
            execution.room?.shrink(to: beginning.count)
            if isWhole { return execution.collected(beginning) }
            // Like any other stream it may take as long as it goes on.
            source.bound(by: .distantFuture)
            execution.collected(beginning, rest: source)
        } catch {
            if execution.isBoundByMemory, error.kind == .httpResponseBodySize {
                let half = execution.collectLimit
                return execution.foundNoRoom(half + 1, half: half)
            }
            execution.collectingFailed(error)
        }
    }

    @inline(never)
    private func wait(_ execution: Execution) async {
        do throws(CancellationError) {
            try await ports.time.sleep(until: execution.resumeAt)
            execution.waited()
        } catch {
            execution.cancelled()
        }
    }

    @inline(never)
    func begin(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        _ began: Instant?
    ) -> Result<Execution, Failure> {
        do throws(Failure) {
            return .success(
                try Execution(
                    request,
                    context,
                    added: added,
                    canRefresh: canRefresh(context.route, vault),
                    since: began,
                    ports: ports
                )
            )
        } catch {
            return .failure(error)
        }
    }

    private func canRefresh(_ route: Route, _ vault: CredentialVault) -> Bool {
        guard let authentication = route.policy.authentication else { return false }
        return vault.canRefresh(authentication.credential)
    }

    private func refused(_ context: JobContext, _ failure: Failure) -> Outcome {
        if context.isBreached(by: failure) { ports.sink.record(.neverFailsBreached(context, failure)) }
        ports.sink.record(.jobFailed(context, failure, attempts: []))
        return Outcome(ending: .failed(failure, answer: nil), attempts: [])
    }
}
