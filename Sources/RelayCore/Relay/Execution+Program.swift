package import RelayBase
package import RelayRoute

// The waits in which a program's own code runs; each ends, whatever that code does.
extension Execution {
    @inline(never)
    func prepare() async {
        guard let hooks = context.hooks, let request = machine.unprepared else { return }
        if let attempt = machine.recovery.attempts.last { hooks.attemptBegan(attempt, of: request) }
        switch await ports.prepared(.attempt, request, number: machine.plan.number, hooks, by: deadline) {
        case .success(let request): machine.prepared(request, moment)
        case .failure(let failure): machine.failed(failure, moment)
        }
    }

    /// Asks a strategy, which is cancelled at the job's deadline.
    @inline(never)
    func consult(_ strategy: any RecoveryStrategy, about failure: Failure) async {
        var disposition: RecoveryDisposition?
        if let request = machine.unprepared {
            let left = machine.left(moment)
            let hooks = context.hooks
            disposition = await bounding(at: machine.recovery.deadline, ports.time) {
                guard let hooks else {
                    return await strategy.recover(from: failure, of: request, context: left)
                }
                return await hooks.consult(strategy, about: failure, of: request, left)
            }
        }
        if case .stop(let other)? = disposition, other.kind == .programsOwn {
            disposition = .stop(failure.carrying(other.underlying))
        }
        machine.advised(disposition ?? .passOn, recall(), moment)
        giveBackUnneeded()
    }
}

extension RelayPorts {
    /// Prepares a job before its first attempt, or an attempt.
    package func prepared(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        number: Int = 1,
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
        let prepared = await bounding(at: deadline, time, prepare)
        if Task.isCancelled { return .failure(.callerGone) }
        // An error thrown from the deadline on is thrown because of the cancellation.
        if case .success = prepared, let prepared { return prepared }
        if let prepared, time.now() < deadline { return prepared }
        return .failure(
            Failure(.preparation, sent: .neverSent, "preparation was not done before the deadline")
        )
    }
}
