// The waits in which a program's own code runs.
extension Relay {
    @inline(never)
    func prepare(_ execution: Execution) async {
        guard let hooks = execution.context.hooks, let request = execution.request else { return }
        do throws(Failure) {
            execution.prepared(try await hooks.prepareAttempt(request, number: execution.plan.number))
        } catch {
            execution.failed(error)
        }
    }

    /// Asks a strategy, which is cancelled at the job's deadline.
    @inline(never)
    func consult(_ strategy: any RecoveryStrategy, _ execution: Execution) async {
        guard let asked = execution.consultation else { return execution.advised(.passOn) }
        let disposition = await cancelling(at: execution.machine.deadline, ports.time) {
            await strategy.recover(from: asked.failure, of: asked.request, context: asked.context)
        }
        execution.advised(disposition ?? .passOn)
    }
}
