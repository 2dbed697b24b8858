// Room for an answer that is to be collected; until there is some, its sender is held back.
extension Relay {
    /// Waits for room in the account, at most until the attempt's deadline.
    ///
    /// - Returns: false when there is none, and the execution has been told.
    @inline(never)
    func findRoom(for body: Body, _ execution: Execution) async -> Bool {
        guard let memory = ports.memory, case .stream(let source) = body else { return true }
        let limit = execution.collectLimit
        // What is too large is refused for its size, and takes nothing.
        if let length = source.length, length > UInt64(limit) { return true }
        let half = memory.usage.half
        execution.isBoundByMemory = source.length == nil && half < limit
        if execution.isBoundByMemory { execution.collectLimit = half }
        let wanted = source.length.map { Int($0) } ?? execution.collectLimit
        guard wanted > MemoryAccount.free else { return true }
        // Nobody waits for memory who has some.
        execution.letGo()
        if wanted <= half { execution.room = await room(wanted, in: memory, execution) }
        if execution.room != nil { return true }
        source.cancel()
        execution.foundNoRoom(wanted, half: half)
        return false
    }

    /// A job of a stream has room by right in its turn only; before it takes what nobody has to wait for.
    private func room(_ wanted: Int, in memory: MemoryAccount, _ execution: Execution) async -> MemoryHold? {
        let deadline = execution.deadline
        if let turn = execution.turn, !turn.take() {
            if let room = memory.hold(wanted) { return room }
            let isTaken = await cancelling(at: deadline, ports.time) { await turn.wait() }
            guard isTaken == true else { return nil }
        }
        return await memory.collect(wanted, by: deadline, ports.time)
    }
}

extension Execution {
    /// Gives up what an earlier answer of this run takes.
    func letGo() {
        guard room != nil else { return }
        room = nil
        lastAnswer = nil
    }

    /// The answer that is there cannot be collected.
    func foundNoRoom(_ wanted: Int, half: Int) {
        // That a job was delivered matters more than what it was answered.
        if context.history != nil, let inbound = uncollected, !judge.needsBody(inbound.response.status) {
            lacksContent = true
            return collected([])
        }
        guard !Task.isCancelled else {
            return collectingFailed(Failure(.cancelled, sent: .unknown, "the caller went away"))
        }
        let reason =
            wanted > half
            ? "may take \(half) (half of limits.memory)"
            : "found no room (limits.memory) within \(plan.limit.text)"
        var failure = Failure(
            .overloaded,
            sent: .answered,
            "the answer needs \(wanted) bytes of memory and \(reason)"
        )
        failure.exchange = uncollected?.exchange
        collectingFailed(failure)
    }
}
