import RelayCore
import RelayJSON
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("What a caller is told who gets no answer of the upstream")
struct ProblemTests {
    @Test("That time was wanting, where it was", .clauses("N-08"), arguments: [true, false])
    func pastDeadline(isPastDeadline: Bool) throws {
        var failure = Failure(.connectionRefused, sent: .neverSent, "127.0.0.1:9 refused the connection")
        failure.isPastDeadline = isPastDeadline
        let id = JobID(milliseconds: 1, random: (2, 3))
        let problem = Problem(failure, route: "r", job: id, pastDeadline: false)
        let document = try JSONValue(parsing: problem.body)
        #expect(document["past_deadline"] == (isPastDeadline ? .bool(true) : nil))
        #expect(document["code"] == .string("upstream_failed"))
    }

    @Test(
        "A copy of the body that cannot be read hides no attempt that may have been carried out",
        arguments: [
            (.neverSent, 503, "storage_failed", true), (.refused, 503, "storage_failed", true),
            (.unknown, 502, "upstream_failed", false), (.answered, 502, "upstream_failed", false),
        ] as [(Sent, Int, String, Bool)]
    )
    func unreadCopy(sent: Sent, status: Int, code: String, isRepeated: Bool) throws {
        let failure = Failure(.storedBodyUnread, sent: sent, "cannot read a request body back")
        let id = JobID(milliseconds: 1, random: (2, 3))
        let problem = Problem(failure, route: "r", job: id, pastDeadline: false)
        let document = try JSONValue(parsing: problem.body)
        #expect(Int(problem.status.rawValue) == status && document["code"] == .string(code))
        #expect(document["sent"] == .string(sent.rawValue))
        #expect((problem.retryAfter != nil) == isRepeated)
    }
}

@Suite("How long a caller waits for the disk", .timeLimit(.minutes(1)))
struct PatienceTests {
    private func patience(_ time: VirtualTime, _ limit: Duration) -> Patience {
        let ports = RelayPorts(
            transport: ScriptedTransport([], time: time),
            time: time,
            entropy: SeededEntropy(),
            sink: RecordingSink(),
            start: { work in Task { await work() } }
        )
        return Patience(ports, atMost: limit)
    }

    /// A write that takes that long by a clock that the test moves.
    private func write(_ time: VirtualTime, _ duration: Duration, _ patience: inout Patience) async -> Bool {
        let end = time.now().advanced(by: duration)
        var waiting = patience
        let task = Task { () -> (Bool, Patience) in
            let isDone = await waiting.wait { () -> Bool in
                try? await time.sleep(until: end)
                return true
            }
            return (isDone == true, waiting)
        }
        while time.sleeperCount < 2, !Task.isCancelled { await Task.yield() }
        time.advance(by: min(duration, patience.limit))
        let (isDone, left) = await task.value
        patience = left
        time.advance(by: .seconds(3_600))
        return isDone
    }

    @Test("A disk that works takes as long as it takes, whatever the number of pieces")
    func usual() async {
        let time = VirtualTime(.manual)
        var patience = patience(time, .seconds(2))
        for _ in 0..<100 { #expect(await write(time, .milliseconds(200), &patience)) }
    }

    @Test("All slow pieces together last no longer than it does")
    func whole() async {
        let time = VirtualTime(.manual)
        var patience = patience(time, .seconds(2))
        #expect(await write(time, .milliseconds(900), &patience))
        #expect(await write(time, .milliseconds(900), &patience))
        #expect(await !write(time, .milliseconds(900), &patience))
        #expect(patience.limit == .zero)
    }
}
