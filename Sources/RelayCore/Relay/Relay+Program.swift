// The waits in which a program's own code runs; each ends, whatever that code does.
extension Relay {
    @inline(never)
    func prepare(_ execution: Execution) async {
        guard let hooks = execution.context.hooks, let request = execution.request else { return }
        let prepared = await prepared(.attempt, request, execution.plan.number, hooks, by: execution.deadline)
        switch prepared {
        case .success(let request): execution.prepared(request)
        case .failure(let failure): execution.failed(failure)
        }
    }

    /// Prepares a job before its first attempt.
    func prepareJob(
        _ request: HTTPRequest,
        _ hooks: any JobHooks,
        by deadline: Instant
    ) async -> Result<HTTPRequest, Failure> {
        await prepared(.job, request, 1, hooks, by: deadline)
    }

    /// Asks a strategy, which is cancelled at the job's deadline.
    @inline(never)
    func consult(_ strategy: any RecoveryStrategy, _ execution: Execution) async {
        guard let asked = execution.consultation else { return execution.advised(.passOn) }
        let disposition = await bounding(at: execution.machine.deadline, ports.time) {
            await strategy.recover(from: asked.failure, of: asked.request, context: asked.context)
        }
        execution.advised(disposition ?? .passOn)
    }

    private func prepared(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        _ number: Int,
        _ hooks: any JobHooks,
        by deadline: Instant
    ) async -> Result<HTTPRequest, Failure> {
        let prepare = { @Sendable () async -> Result<HTTPRequest, Failure> in
            do throws(Failure) {
                return .success(try await hooks.prepare(phase, request, number: number))
            } catch {
                return .failure(error)
            }
        }
        guard hooks.hasSteps(phase) else {
            return Task.isCancelled ? .failure(.callerGone) : await prepare()
        }
        let prepared = await bounding(at: deadline, ports.time, prepare)
        if Task.isCancelled { return .failure(.callerGone) }
        // What is thrown from then on is thrown because of the cancellation.
        if case .success = prepared, let prepared { return prepared }
        if let prepared, ports.time.now() < deadline { return prepared }
        return .failure(
            Failure(.preparation, sent: .neverSent, "preparation was not done before the deadline")
        )
    }
}
