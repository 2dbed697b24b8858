import RelayKit
import RelayTestSupport
import Testing

@Suite("The code that a program tests without a service", .timeLimit(.minutes(5)))
struct RulesOfAttemptsTests {
    private func attempts(_ steps: [(rule: String?, next: Attempt.Next?)]) -> [Attempt] {
        steps.enumerated().map { index, step in
            var attempt = Attempt(number: index + 1, upstream: "one", beganAt: 0)
            attempt.rule = step.rule
            attempt.next = step.next
            return attempt
        }
    }

    @Test("Rules that let a job go on are named once each, in the order they first acted")
    func recoveredBy() {
        let again = Attempt.Next.retry(after: .zero)
        #expect(
            attempts([
                ("a", again), ("b", .refreshCredentials), ("a", again), (nil, .quickRecovery),
                ("c", .respond(.stale)),
            ])
            .recoveredBy == ["a", "b", "c"]
        )
        #expect(attempts([("a", again), ("b", .fail)]).recoveredBy == ["a"])
        #expect(attempts([(nil, nil)]).recoveredBy == [] && attempts([]).recoveredBy == [])
    }

    @Test("Only a rule that ended the job stopped it, and only after the last attempt")
    func stoppedBy() {
        #expect(attempts([("a", .retry(after: .zero)), ("b", .fail)]).stoppedBy == "b")
        // The step after a rule's answer or wait may still fail; the rule did not mean it to.
        #expect(attempts([("a", .respond(.placeholder))]).stoppedBy == nil)
        #expect(attempts([("a", .retry(after: .zero)), (nil, nil)]).stoppedBy == nil)
        #expect(attempts([]).stoppedBy == nil)
    }

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
                attempts: attempts([(nil, nil)])
            )
        )
        #expect(endings.jobs.map(\.id) == ["j"])
    }
}
