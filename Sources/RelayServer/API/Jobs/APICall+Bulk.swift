import RelayCore
import RelayEngine
import RelayJSON
import RelayPosix

extension APICall {
    /// Jobs of one turn of the store, which others then get theirs between.
    private static let bulkPage = 500
    /// Turns of one call: a filter that few jobs match is gone through in several calls.
    private static let bulkTurns = 200

    /// Does something to every job that matches, at most `limit` of them.
    func bulk(_ document: [UInt8], _ connection: Connection) async throws(Problem) -> APIAnswer {
        _ = try Query(self, [])
        try checkJSON("an action")
        let wanted = try BulkAction(document)
        if wanted.cursor == nil { try await APICall.checkFilter(wanted.filter.route, connection.server) }
        var report = ActionReport()
        report.next = wanted.cursor
        let began = SystemClock.wall() / 1_000_000
        let durable = connection.server.durable
        let patience = Patience(connection.server.relay.ports, JobOptions())
        // Also of a call that a failing store cuts short.
        defer { record(wanted, report, connection) }
        for turn in 0..<APICall.bulkTurns {
            let left = wanted.limit - report.matched
            guard left > 0, turn == 0 || report.next != nil, connection.phase == .busy else { break }
            let offset =
                wanted.rate.map { wanted.offset(began) + .seconds(Double(report.changed) / $0) } ?? .zero
            let next = report.next
            let turn: @Sendable () async throws(Problem) -> ActionReport = { () throws(Problem) in
                try await durable.act(
                    wanted.action,
                    on: wanted.filter,
                    limit: min(left, APICall.bulkPage),
                    after: next,
                    rate: wanted.rate,
                    offset: offset,
                    dryRun: wanted.isDryRun
                )
            }
            let step =
                wanted.isDryRun ? try await turn() : try await patience.write(in: durable.store, turn)
            report.matched += step.matched
            report.changed += step.changed
            report.asked += step.asked
            report.expunged += step.expunged
            report.spared += step.spared
            report.next = step.next
        }
        var json = JSONObjectWriter()
        json.member("action", wanted.action.rawValue)
        json.member("dry_run", wanted.isDryRun)
        json.member("matched", report.matched)
        json.member("changed", report.changed)
        json.member("asked", report.asked.count)
        json.member("body_expired", report.expunged)
        json.member("left_alone", report.spared)
        if let next = report.next {
            json.member("next", wanted.next(next, after: report.changed, from: began))
        } else {
            json.member("next", JSONValue.null)
        }
        return APIAnswer(200, json.bytes)
    }

    private func record(_ wanted: BulkAction, _ report: ActionReport, _ connection: Connection) {
        guard !wanted.isDryRun, report.changed + report.asked.count > 0 else { return }
        let change = JobsChange(
            user: connection.client?.user,
            action: wanted.action,
            filter: wanted.filter,
            changed: report.changed,
            asked: report.asked.count
        )
        connection.server.relay.ports.sink.record(.jobsChanged(change))
    }
}
