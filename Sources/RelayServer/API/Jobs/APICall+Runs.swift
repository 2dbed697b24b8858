import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayPosix

// Runs: actions on every job that matches, which the daemon carries on by itself.
extension APICall {
    /// Begins one.
    func begin(_ document: [UInt8], _ caller: Caller) async throws(Problem) -> Answer {
        _ = try query()
        try checkJSON("a run")
        let wanted = try BulkAction(document, isRun: true)
        try await APICall.checkFilter(wanted.filter.route, caller.server)
        let (count, isWhole) = try await matches(wanted, caller, atMost: .max)
        try wanted.check(count, isWhole)
        // A count takes a while, in which somebody may have thought better of it.
        guard caller.isThere else {
            throw Problem(.selectionChanged, "the caller has gone, and nothing was begun")
        }
        let (durable, by) = (caller.server.durable, await caller.principal())
        var run = ActionRun(wanted.action, wanted.filter, by: by, at: SystemClock.wall() / 1_000_000)
        (run.rate, run.why, run.total) = (wanted.rate, wanted.why, isWhole ? count : nil)
        let deadline = StorageDeadline(caller.server.relay.ports, JobOptions())
        let begun = try await deadline.write(in: durable.store) { [run] () throws(Problem) in
            try await durable.runs.begin(run)
        }
        return Answer(202, begun.bytes, fields: [("Location", "/v1/runs/\(begun.number)")])
    }

    /// Those that go on, and the last that are over.
    func runs(_ server: LoopServer) throws(Problem) -> Answer {
        _ = try query()
        var json = JSONObjectWriter()
        json.array("runs") { list in for run in server.durable.runs.all { run.write(into: &list) } }
        return Answer(200, json.bytes)
    }

    /// One of them, after it was stopped where that is asked.
    func run(
        _ text: String,
        _ part: RunPart,
        _ document: [UInt8],
        _ caller: Caller
    ) async throws(Problem) -> Answer {
        _ = try query()
        guard document.isEmpty else { throw Problem(.badRequest, "a stop has no document") }
        let runs = caller.server.durable.runs
        // No run has a negative number, or none.
        let found = try runs.run(Int64(text) ?? 0)
        guard part == .stop else { return Answer(200, found.bytes) }
        let (by, store) = (await caller.principal(), caller.server.durable.store)
        let deadline = StorageDeadline(caller.server.relay.ports, JobOptions())
        let ended = try await deadline.write(in: store) { () throws(Problem) in
            try await runs.end(found.number, by: by)
        }
        return Answer(200, ended.bytes)
    }
}
