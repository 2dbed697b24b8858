import RelayKit
import Testing

@Suite("The code that a program tests without a service", .timeLimit(.minutes(5)))
struct TestableCodeTests {
    @Test("A strategy, a step and an observer can be called with values a test makes")
    func made() async throws {
        let strategy = Advice { _, request, context in
            context.attemptsLeft > 0 && context.route == "service" ? .retry(request, after: .zero) : .passOn
        }
        let failure = Failure(.httpStatus, sent: .answered, "scripted", status: 503)
        let request = HTTPRequest(method: .get, target: "x")
        for (left, retries) in [(0, false), (1, true)] {
            let context = RecoveryContext(attempt: 3, attemptsLeft: left, timeLeft: .seconds(1))
            let disposition = await strategy.recover(from: failure, of: request, context: context)
            let isRetry = if case .retry = disposition { true } else { false }
            #expect(isRetry == retries)
        }
        let step = Prepare(.attempt) { request, context in
            var changed = request
            changed.target = "\(context.job)/\(context.attempt)"
            return changed
        }
        let prepared = try await step.prepare(request, context: PreparationContext(job: "j", attempt: 2))
        #expect(prepared.target == "j/2")
        let endings = Endings()
        endings.finished(
            FinishedJob(
                id: "j",
                request: HTTPRequest(method: .get, target: "x"),
                failure: failure,
                source: nil,
                attempts: [Attempt(number: 1, upstream: "one", beganAt: 0)]
            )
        )
        #expect(endings.jobs.map(\.id) == ["j"])
    }
}
