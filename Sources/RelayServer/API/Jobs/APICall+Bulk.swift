import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayPosix

extension APICall {
    /// Jobs of one step; others reach the store between two.
    private static let bulkPage = 500
    /// Steps of one call: a filter that few jobs match is gone through in several calls.
    private static let bulkSteps = 200

    /// Does something to every job that matches, at most `limit` of them.
    func bulk(_ document: [UInt8], _ caller: Caller) async throws(Problem) -> Answer {
        _ = try query()
        try checkJSON("an action")
        let wanted = try BulkAction(document)
        if wanted.cursor == nil { try await APICall.checkFilter(wanted.filter.route, caller.server) }
        if !wanted.isDryRun, wanted.seen != nil {
            let (now, isWhole) = try await matches(wanted, caller, atMost: BulkAction.mostJobs)
            try wanted.check(now, isWhole)
        }
        var done = BulkProgress(next: wanted.cursor)
        let began = SystemClock.wall() / 1_000_000
        let durable = caller.server.durable
        let principal = await caller.principal()
        let deadline = StorageDeadline(caller.server.relay.ports, JobOptions())
        // Also of a call that a failing store cuts short.
        defer { record(wanted, done, principal, caller) }
        for step in 0..<APICall.bulkSteps {
            let left = wanted.limit - done.count.matched
            guard left > 0, step == 0 || done.next != nil, caller.isThere else { break }
            let offset =
                wanted.rate.map { wanted.offset(began) + .seconds(Double(done.count.changed) / $0.perSecond) }
                ?? .zero
            var order = wanted.order(limit: min(left, APICall.bulkPage), by: .user(principal, isBulk: true))
            order.cursor = done.next
            order.filter.pausedRoutes = durable.pauses.routes(of: order.filter.reason)
            order.spacing = wanted.spacing(after: offset)
            let act: @Sendable () async throws(Problem) -> ActionReport = { [order] () throws(Problem) in
                try await durable.operations.act(order)
            }
            done.add(
                wanted.isDryRun ? try await act() : try await deadline.write(in: durable.store, act)
            )
        }
        let next = done.next.map { wanted.next($0, after: done.count.changed, from: began) }
        return Answer(200, BulkResult(wanted: wanted, done: done, next: next).bytes)
    }

    /// The number of jobs that match now, and whether all were looked at that count.
    func matches(
        _ wanted: BulkAction,
        _ caller: Caller,
        atMost most: Int
    ) async throws(Problem) -> (count: Int, isWhole: Bool) {
        var counted = BulkProgress(next: wanted.cursor)
        for step in 0..<APICall.bulkSteps {
            let left = most - counted.count.matched
            guard left > 0, step == 0 || counted.next != nil, caller.isThere else { break }
            var order = wanted.order(limit: min(left, APICall.bulkPage), by: .user(nil, isBulk: true))
            (order.isDryRun, order.cursor) = (true, counted.next)
            order.filter.pausedRoutes = caller.server.durable.pauses.routes(of: order.filter.reason)
            counted.add(try await caller.server.durable.operations.act(order))
        }
        return (counted.count.matched, counted.next == nil || counted.count.matched >= most)
    }

    private func record(_ wanted: BulkAction, _ done: BulkProgress, _ principal: Principal?, _ caller: Caller)
    {
        guard !wanted.isDryRun, done.count.changed > 0 else { return }
        let change = JobsChange(
            by: principal,
            action: wanted.action,
            filter: wanted.filter,
            changed: done.count.changed,
            asked: done.count.asked
        )
        caller.server.relay.ports.sink.record(.jobsChanged(change))
    }
}
