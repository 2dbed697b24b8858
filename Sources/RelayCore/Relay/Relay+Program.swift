// The waits in which a program's own code runs; each ends, whatever that code does.
extension Relay {
    @inline(never)
    func prepare(_ execution: Execution) async {
        guard let hooks = execution.context.hooks, let request = execution.request else { return }
        let number = execution.plan.number
        let prepared = await bounded(execution.deadline) { () async throws(Failure) in
            try await hooks.prepareAttempt(request, number: number)
        }
        switch prepared {
        case .success(let request): execution.prepared(request)
        case .failure(let failure): execution.failed(failure)
        }
    }

    /// Prepares a job before its first attempt.
    func prepareJob(
        by deadline: Instant,
        _ prepare: @escaping @Sendable () async throws(Failure) -> HTTPRequest
    ) async -> Result<HTTPRequest, Failure> {
        await bounded(deadline, prepare)
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

    private func bounded(
        _ deadline: Instant,
        _ prepare: @escaping @Sendable () async throws(Failure) -> HTTPRequest
    ) async -> Result<HTTPRequest, Failure> {
        let prepared = await bounding(at: deadline, ports.time) { () -> Result<HTTPRequest, Failure> in
            do throws(Failure) {
                return .success(try await prepare())
            } catch {
                return .failure(error)
            }
        }
        if Task.isCancelled { return .failure(.callerGone) }
        // What is thrown from then on is thrown because of the cancellation.
        if case .success = prepared, let prepared { return prepared }
        if let prepared, ports.time.now() < deadline { return prepared }
        return .failure(
            Failure(.preparation, sent: .neverSent, "preparation was not done before the deadline")
        )
    }
}
