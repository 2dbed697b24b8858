import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("The order of one attempt", .timeLimit(.minutes(5)))
struct AttemptOrderTests {
    private struct Watching: AttemptObserver {
        let log: CallLog

        func attemptBegan(_ attempt: Attempt, of job: RunningJob) { log.note("began \(attempt.number)") }
        func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob) {
            log.note("responded \(response.status.rawValue)")
        }
        func decided(_ attempt: Attempt, of job: RunningJob) {
            log.note("decided \(attempt.next?.name ?? "-")")
        }
        func finished(_ job: FinishedJob) { log.note("finished") }
    }

    private func lines(
        _ steps: [ScriptedTransport.Step],
        quickRecovers: Bool = false
    ) async throws -> [String] {
        let log = CallLog()
        let script = Mutex(steps[...])
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [
                    .strategy(
                        AdvisingStrategy("strategy", log) { _, request, context in
                            context.attempt == 1 ? .retry(request, after: .zero) : .passOn
                        }
                    )
                ]
            },
            preparation: [
                Prepare(.attempt) { request, _ in
                    log.note("prepare")
                    return request
                }
            ],
            observers: [Watching(log: log)],
            answer: { _ in
                log.note("send")
                return script.withLock { $0.popFirst() } ?? .fail("script_over", .unknown)
            }
        )
        var request = Request<String>(HTTPRequest(method: .get, target: "x")) { success in
            log.note("transform")
            if success.response.text == "bad" { throw RecipeProblem(code: "bad") }
            return ""
        }
        request.errorDocument = ErrorDocument { response -> RecipeProblem? in
            log.note("error document")
            return response.text == "problem" ? RecipeProblem(code: "told") : nil
        }
        request.quickRecovery = { failure in
            log.note("quick")
            return quickRecovers ? failure.response : nil
        }
        request.successValidator = { _ in log.note("validate") }
        request.classify = { failure in
            log.note("classify")
            return failure
        }
        request = request.throwing { failure in
            log.note("throwing")
            return failure
        }
        _ = await bench.service.outcome(of: request)
        return log.lines
    }

    @Test("A success: prepare, send, error document, validate, transform", .clauses("G3-06"))
    func success() async throws {
        #expect(
            try await lines([.answer(200)]) == [
                "began 1", "prepare", "send", "responded 200", "error document", "validate", "transform",
                "finished",
            ]
        )
    }

    @Test(
        "A refusal: quick recovery, then its name, then the strategies; and all again for the retry",
        .clauses("G3-06")
    )
    func refusal() async throws {
        #expect(
            try await lines([.answer(500), .answer(404)]) == [
                "began 1", "prepare", "send", "responded 500", "error document", "quick", "classify",
                "strategy", "decided retry",
                "began 2", "prepare", "send", "responded 404", "error document", "quick", "classify",
                "strategy", "decided -", "throwing", "finished",
            ]
        )
    }

    @Test("A quick recovery goes straight to the transform", .clauses("G3-06"))
    func quickRecovered() async throws {
        #expect(
            try await lines([.answer(500)], quickRecovers: true) == [
                "began 1", "prepare", "send", "responded 500", "error document", "quick",
                "decided quick_recovery", "transform", "finished",
            ]
        )
    }

    @Test("Any other failure goes to the strategies and to no quick recovery", .clauses("G3-06"))
    func otherFailure() async throws {
        #expect(
            try await lines([.answer(200, [], "bad"), .answer(200)]) == [
                "began 1", "prepare", "send", "responded 200", "error document", "validate", "transform",
                "classify", "strategy", "decided retry",
                "began 2", "prepare", "send", "responded 200", "error document", "validate", "transform",
                "finished",
            ]
        )
    }

    @Test("No answer: quick recovery is asked all the same", .clauses("G3-06"))
    func noAnswer() async throws {
        #expect(
            try await lines([.fail(.connectionRefused, .neverSent), .answer(200)]) == [
                "began 1", "prepare", "send", "quick", "classify", "strategy", "decided retry",
                "began 2", "prepare", "send", "responded 200", "error document", "validate", "transform",
                "finished",
            ]
        )
    }
}
