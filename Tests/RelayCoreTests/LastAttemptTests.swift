import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The last attempt of a kept job that goes on failing")
struct LastAttemptTests {
    private static func retry(
        _ name: String,
        _ failures: [FailureMatcher.Token],
        _ attempts: Int,
        _ waits: [Int64]
    ) -> RecoveryRule {
        var policy = RetryPolicy()
        policy.maxAttempts = attempts
        policy.backoff = Backoff(schedule: .list(waits.map { .seconds($0) }), jitter: .full)
        return RecoveryRule(name: name, on: FailureMatcher(failures), action: .retry(policy))
    }

    private static func route(_ rules: [RecoveryRule], most: Int? = nil) -> Route {
        makeRoute { policy in
            policy.recovery = rules
            policy.maxAttempts = 100
            policy.delivery.maxAttempts = most
        }
    }

    @Test(
        "Is after the waits that its rule has left",
        arguments: [(1, 330), (2, 330 - 30), (3, 0), (4, 0), (9, 0)] as [(Int, Int64)]
    )
    func waits(made: Int, left: Int64) {
        let route = Self.route([Self.retry("later", [.statusClass(.serverError)], 4, [5, 30, 300])])
        let after = route.lastAttempt(afterNextOf: .httpStatus, 503, made: made, spent: made)
        #expect(after == .seconds(left))
        // Another failure is no rule's: the next attempt is the last one, and nobody says that it fails.
        #expect(route.lastAttempt(afterNextOf: .httpStatus, 404, made: made, spent: made) == nil)
    }

    @Test("Comes sooner where the job has fewer attempts than its rule")
    func most() {
        let rules = [Self.retry("later", [.group(.connection), .statusClass(.serverError)], 9, [10])]
        let bounded = Self.route(rules, most: 3)
        #expect(bounded.lastAttempt(afterNextOf: .httpStatus, 503, made: 1, spent: 1) == .seconds(10))
        #expect(bounded.lastAttempt(afterNextOf: .httpStatus, 503, made: 2, spent: 2) == .zero)
        // Those that never were sent cost the job nothing, and its rule one each.
        #expect(bounded.lastAttempt(afterNextOf: .connectionRefused, nil, made: 2, spent: 0) == .seconds(60))
        // Those that were refused as too many cost neither anything.
        #expect(bounded.lastAttempt(afterNextOf: .httpStatus, 503, made: 7, spent: 1) == .seconds(10))
    }

    @Test("Is none where a rule below puts the job aside, or goes on")
    func below() {
        let first = Self.retry("later", [.any], 2, [10])
        func after(_ action: RecoveryRule.Action) -> Duration? {
            Self.route([first, RecoveryRule(name: "then", on: FailureMatcher([.exhausted]), action: action)])
                .lastAttempt(afterNextOf: .httpStatus, 503, made: 1, spent: 1)
        }
        #expect(after(.deadLetter) == .zero && after(.fail) == .zero)
        #expect(after(.hold) == nil && after(.pauseRoute(reason: "x")) == nil)
        let more = Self.retry("more", [.any], 5, [10])
        #expect(
            Self.route([first, more]).lastAttempt(afterNextOf: .httpStatus, 503, made: 1, spent: 1) == nil
        )
    }
}
