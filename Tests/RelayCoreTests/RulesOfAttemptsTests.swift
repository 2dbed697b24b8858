import RelayBase
import RelayCore
import Testing

@Suite("The rules that acted in a job")
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
}
