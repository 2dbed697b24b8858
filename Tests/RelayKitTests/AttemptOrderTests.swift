import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("The order of one attempt", .timeLimit(.minutes(5)))
struct AttemptOrderTests {
    private struct Watching: AttemptObserver {
        let log: Log

        func attemptBegan(_ attempt: Attempt, of job: RunningJob) { log.note("began \(attempt.number)") }
        func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob) {
            log.note("responded \(response.status.rawValue)")
        }
        func decided(_ attempt: Attempt, of job: RunningJob) {
            log.note("decided \(attempt.next?.name ?? "-")")
        }
        func finished(_ job: FinishedJob) { log.note("finished \(job.failure?.kind.rawValue ?? "well")") }
    }

    private func lines(_ steps: [ScriptedTransport.Step]) async throws -> [String] {
        let log = Log()
        let script = Mutex(steps[...])
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [
                    .advice("strategy", log) { _, request, context in
                        context.attempt == 1 ? .retry(request, after: .zero) : .passOn
                    }
                ]
            },
            preparation: [
                Prepare.changing(.job) { _, _ in log.note("job") },
                Prepare.changing { _, _ in log.note("prepare") },
            ],
            observers: [Watching(log: log)],
            answer: { _ in
                log.note("send")
                return script.withLock { $0.popFirst() } ?? .fail("script_over", .unknown)
            }
        )
        var request = PlainRequest<String>(HTTPRequest(method: .get, target: "x")) { success in
            log.note("transform")
            if success.response.text == "bad" { throw Problem(code: "bad") }
            return ""
        }
        request.errorDocument = ErrorDocument { response -> Problem? in
            log.note("error document")
            return response.text == "problem" ? Problem(code: "told") : nil
        }
        request.quickRecovery = { failure in
            log.note("quick")
            return failure.response?.text == "good enough" ? failure.response : nil
        }
        request.successValidator = { _ in log.note("validate") }
        request.classify = { failure in
            log.note("classify")
            return failure
        }
        request = request.map { value in
            log.note("map")
            return value
        }
        request = request.throwing { failure in
            log.note("throwing")
            return failure
        }
        _ = await bench.service.outcome(of: request)
        return log.lines
    }

    private static let first = ["job", "began 1", "prepare", "send"]
    private static let second = ["began 2", "prepare", "send"]
    private static let read = ["error document", "validate", "transform"]
    private static let judged = ["error document", "quick", "classify", "strategy"]
    private static let well = ["map", "finished well"]

    @Test(
        "An attempt is prepared, sent and read, or refused and recovered; all again for the retry, and its end once",
        .clauses("G2-04", "G3-06", "G3-15", "T-08", "UC-08", "X-16", "X-18"),
        arguments: [
            ([.answer(200)], first + ["responded 200"] + read + well),
            (
                [.answer(500), .answer(404)],
                first + ["responded 500"] + judged + ["decided retry"]
                    + second + ["responded 404"] + judged + ["decided -", "throwing", "finished http_status"]
            ),
            (
                [.answer(500, [], "good enough")],
                first + ["responded 500", "error document", "quick", "decided quick_recovery", "transform"]
                    + well
            ),
            (
                [.answer(200, [], "bad"), .answer(200)],
                first + ["responded 200"] + read + ["classify", "strategy", "decided retry"]
                    + second + ["responded 200"] + read + well
            ),
            (
                [.answer(200, [], "problem"), .answer(200)],
                first + ["responded 200"] + judged + ["decided retry"]
                    + second + ["responded 200"] + read + well
            ),
            (
                [.fail(.connectionRefused, .neverSent), .answer(200)],
                first + ["quick", "classify", "strategy", "decided retry"]
                    + second + ["responded 200"] + read + well
            ),
        ] as [([ScriptedTransport.Step], [String])]
    )
    func order(steps: [ScriptedTransport.Step], expected: [String]) async throws {
        #expect(try await lines(steps) == expected)
    }
}
