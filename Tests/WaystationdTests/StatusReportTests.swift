import RelayBase
import RelayEngine
import RelayEngineBench
import RelayInterface
import RelayJSON
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelayStore
import RelayTestSupport
import Testing

@testable import waystationd

@Suite("The status of a daemon", .runQueue, .timeLimit(.minutes(1)))
struct StatusReportTests {
    /// A trouble that a daemon may have, or none.
    enum Trouble: CaseIterable, Sendable {
        case none, reload, constrained, hidden, stalled, full, gone, away, mute, slow, paused, draining

        /// The parts that the document and the line have then, and only then.
        var shown: (document: String, line: String) {
            switch self {
            case .none: ("", "")
            case .reload:
                (
                    #""last_reload_error":"it is wrong""#,
                    "; reload failed: it is wrong; old configuration kept"
                )
            case .constrained: (#""constrained":true"#, "; network constrained")
            case .hidden: (#""callers_known":false"#, "; callers' users are not known")
            case .stalled: (#""storage":{"state":"stalled""#, "; the job store does not move")
            case .full: (#""storage":{"state":"full""#, "; the job store has no room")
            case .gone: (#""storage":{"state":"gone""#, "; the job store's file is gone")
            case .away:
                (
                    #""storage":{"state":"unavailable","reason":"nobody listens""#,
                    "; the job store is away: nobody listens"
                )
            case .mute: (#""blocked_seconds":3"#, "; the journal takes no records")
            case .slow: (#""blocked_seconds":2"#, "")
            case .paused: (#""last_failure":null,"pause_reason":"a test""#, "; paused: hooks")
            case .draining: (#""state":"draining","draining":true"#, "Draining: 0 in flight")
            }
        }
    }

    private func report(_ bench: DurableBench, _ trouble: Trouble) -> StatusReport {
        let storage: StorageState =
            switch trouble {
            case .stalled: .stalled
            case .gone: .gone
            case .away: .unavailable
            default: bench.jobs.acceptance.lacksSpace ? .full : .ok
            }
        var facts = bench.jobs.watch.facts
        if trouble == .away { facts.absence = "nobody listens" }
        var report = StatusReport(
            bench.engine,
            bench.jobs,
            facts,
            storage,
            MemoryMachine(limit: 9)
        )
        report.startedTicks = SystemClock.monotonic() - 5_000_000_000
        report.reloadError = trouble == .reload ? ("it is wrong", 0) : nil
        report.isConstrained = trouble == .constrained
        report.hidesCallers = trouble == .hidden
        report.journal = (trouble == .mute ? 3 : trouble == .slow ? 2 : 0, 5)
        return report
    }

    @Test(
        "Each trouble stands in the document and in the line, and none that is not there",
        arguments: Trouble.allCases
    )
    func troubles(trouble: Trouble) async throws {
        let bench = DurableBench { _ in .answer(200) }
        try await bench.start()
        switch trouble {
        case .paused: try await bench.jobs.pauses.pause("hooks", reason: "a test", for: nil)
        case .draining: bench.engine.drain()
        case .full: _ = bench.jobs.acceptance.refuseBody(of: "hooks")
        default: break
        }
        await untilIdle()
        let report = report(bench, trouble)
        let document = String(decoding: report.bytes, as: UTF8.self)
        _ = try JSONValue(parsing: report.bytes)
        for other in Trouble.allCases where other != .none {
            #expect(document.contains(other.shown.document) == (other == trouble))
            if !other.shown.line.isEmpty {
                #expect(report.line.contains(other.shown.line) == (other == trouble))
            }
        }
        #expect(report.line.hasPrefix("Serving 2 routes: 0 in flight, ok 0") == (trouble != .draining))
        #expect(await bench.stop())
    }
}
