import RelayKit
import RelayTestSupport
import Testing

@Suite("Policies that are refused before the first request")
struct PolicyCheckTests {
    private func rules(_ list: [RecoveryRule]) -> Refusal? { refusal { $0.recovery = list } }

    @Test("The smallest policy is taken, and the largest allowances")
    func taken() {
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.maxAttempts = 100 } == nil && refusal { $0.maxAttempts = 1 } == nil)
        #expect(rules([.backoff(maxAttempts: 1), .backoff(maxAttempts: 100), .failover(to: 1)]) == nil)
    }

    @Test("No upstream, and two of one name")
    func upstreams() {
        #expect(refusal { $0.upstreams = [] }?.message.contains("no upstream") == true)
        #expect(
            refusal { $0.upstreams = [$0.upstreams[0], $0.upstreams[0]] }?.message.contains("one name")
                == true
        )
    }

    @Test("A question that tells nothing apart, or is never asked")
    func verification() {
        let any = SuccessRule()
        var some = SuccessRule()
        some.statuses = StatusSet(codes: [404])
        func refused(
            _ absent: SuccessRule,
            _ change: @escaping (inout Verification) -> Void = { _ in }
        ) -> String? {
            guard var made = try? Verification(path: "charges/{key}", found: any, absent: absent) else {
                return nil
            }
            change(&made)
            return refusal { $0.verification = made }?.message
        }
        #expect(refused(some) == nil)
        #expect(refused(any)?.contains("a 200 would say both") == true)
        #expect(refused(some) { $0.attempts = 0 }?.contains("asks never") == true)
        #expect(throws: Refusal.self) {
            try Verification(path: "charges", method: .post, found: any, absent: some)
        }
    }

    @Test("Attempts outside 1 to 100", arguments: [Int.min, -1, 0, 101, .max])
    func attempts(count: Int) {
        #expect(refusal { $0.maxAttempts = count }?.message.contains("\(count)") == true)
        #expect(rules([.backoff(maxAttempts: count)])?.message.contains("\(count)") == true)
    }

    @Test("A wait without an end", .clauses("N-10"), arguments: [Duration.zero, .seconds(-1)])
    func timeouts(value: Duration) {
        let settings: [any WritableKeyPath<Timeouts, Duration> & Sendable] = [
            \.total, \.attempt, \.connect, \.idle,
        ]
        for setting in settings {
            #expect(refusal { $0.timeouts[keyPath: setting] = value }?.message.contains("timeout") == true)
        }
    }

    @Test("A credential that nobody defined, and a refresh where there is none")
    func credentials() {
        let authentication = Authentication(form: .bearer, credential: "nope")
        #expect(refusal { $0.authentication = authentication }?.message.contains("\"nope\"") == true)
        #expect(rules([.reauthorize()])?.message.contains("\"reauthorize\"") == true)
    }

    @Test("A failover to the ordinary upstream, or to none", arguments: [-1, 0, 2, Int.max])
    func failover(target: Int) {
        #expect(rules([.failover(to: target)])?.message.contains("\(target)") == true)
    }

    @Test("Stale answers where none are kept")
    func stale() {
        #expect(rules([.stale()])?.message.contains("none is kept") == true)
        #expect(
            refusal {
                $0.recovery = [.stale()]
                $0.response.keepsLastGood = LastGoodRule(maxAge: .seconds(1))
            } == nil
        )
    }

    @Test("A promise never to fail that the rules do not keep", .clauses("N-14", "UC-03"))
    func neverFails() {
        let any = RecoveryRule.placeholder(CannedAnswer(status: 200))
        let some = RecoveryRule.placeholder(CannedAnswer(status: 200), on: [503, .connection, .exhausted])
        let kept = [[any], [some, any], [.backoff(), any, .fail(on: [.any])]]
        let broken = [[], [some], [.stale(), .backoff()], [.fail(on: [404]), any]]
        for (lists, isKept) in [(kept, true), (broken, false)] {
            for list in lists {
                let found = refusal {
                    $0.neverFails = true
                    $0.recovery = list
                    $0.response.keepsLastGood = LastGoodRule(maxAge: .seconds(1))
                }
                #expect((found == nil) == isKept)
                #expect(isKept || found?.message.contains("neverFails") == true)
            }
        }
    }
}
