extension RelayClient {
    /// Ends the client's work: requests from now on are refused with `shutDown`, those under way may end within `grace`,
    /// and the rest hang up.
    ///
    /// Waits for kept jobs and readers of events end at once with `shutDown`, since the jobs go on without them. Copies
    /// of the client end with it. Returns as soon as nothing is under way; cancelling the task ends the grace.
    ///
    /// - Parameter grace: how long the requests under way may take.
    public func shutdown(within grace: Duration = .seconds(10)) async {
        life.shut()
        let (life, clock) = (life, clock)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await life.untilEmpty() }
            group.addTask {
                try? await clock.sleep(grace)
                if !Task.isCancelled { life.endAll() }
            }
            await withTaskCancellationHandler {
                await group.next()
                group.cancelAll()
            } onCancel: {
                life.endAll()
            }
            await group.waitForAll()
        }
    }
}
