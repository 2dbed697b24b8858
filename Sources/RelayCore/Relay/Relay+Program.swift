package import RelayBase
import RelayRoute

// The waits in which a program's own code runs; each ends, whatever that code does.
extension Relay {
    @inline(never)
    func prepare(_ execution: Execution) async {
        guard let hooks = execution.machine.context.hooks, let request = execution.machine.unprepared else {
            return
        }
        if let attempt = execution.machine.recovery.attempts.last { hooks.attemptBegan(attempt, of: request) }
        let number = execution.machine.plan.number
        let prepared = await prepared(.attempt, request, number, hooks, by: execution.deadline)
        switch prepared {
        case .success(let request): execution.machine.prepared(request, execution.moment)
        case .failure(let failure): execution.machine.failed(failure, execution.moment)
        }
    }

    /// Prepares a job before its first attempt.
    package func prepareJob(
        _ request: HTTPRequest,
        _ hooks: any JobHooks,
        by deadline: Instant
    ) async -> Result<HTTPRequest, Failure> {
        await prepared(.job, request, 1, hooks, by: deadline)
    }

    /// Asks a strategy, which is cancelled at the job's deadline.
    @inline(never)
    func consult(
        _ strategy: any RecoveryStrategy,
        about failure: Failure,
        _ execution: Execution
    ) async {
        var disposition: RecoveryDisposition?
        if let request = execution.machine.unprepared {
            let left = execution.machine.left(execution.moment)
            disposition = await bounding(at: execution.machine.recovery.deadline, ports.time) {
                await strategy.recover(from: failure, of: request, context: left)
            }
        }
        execution.machine.advised(disposition ?? .passOn, execution.recall(), execution.moment)
        execution.settleBudget()
        execution.settleTurn()
    }

    private func prepared(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        _ number: Int,
        _ hooks: any JobHooks,
        by deadline: Instant
    ) async -> Result<HTTPRequest, Failure> {
        let prepare = { @Sendable () async -> Result<HTTPRequest, Failure> in
            await Result { () async throws(Failure) in try await hooks.prepare(phase, request, number: number)
            }
        }
        guard hooks.hasSteps(phase) else {
            return Task.isCancelled ? .failure(.callerGone) : await prepare()
        }
        let prepared = await bounding(at: deadline, ports.time, prepare)
        if Task.isCancelled { return .failure(.callerGone) }
        // An error thrown from the deadline on is thrown because of the cancellation.
        if case .success = prepared, let prepared { return prepared }
        if let prepared, ports.time.now() < deadline { return prepared }
        return .failure(
            Failure(.preparation, sent: .neverSent, "preparation was not done before the deadline")
        )
    }
}
