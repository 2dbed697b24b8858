import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Whether a request that is answered in the upstream's stead goes on as a kept job")
struct StandInKeptTests {
    private let start = Instant(nanoseconds: 0)

    private func answering(_ action: RecoveryRule.Action = placeholder()) -> RecoveryRule {
        var answering = rule("answer", ["any"], action)
        answering.keepsRequest = true
        return answering
    }

    private func machine(
        _ rules: [RecoveryRule],
        _ method: Method = .get,
        _ options: JobOptions = JobOptions(),
        change: (inout RoutePolicy) -> Void = { _ in }
    ) -> RecoveryMachine {
        let route = makeRoute {
            $0.recovery = rules
            change(&$0)
        }
        return RecoveryMachine(route: route, method: method, options: options, now: start)
    }

    /// The decision after failures that follow each other at once, with the last one's reason for not keeping.
    private func decided(
        _ machine: inout RecoveryMachine,
        _ failures: [Failure],
        canRepeat: Bool = true,
        hasStale: Bool = false
    ) -> String {
        for failure in failures {
            _ = machine.attemptBegan(at: start, wall: 0)
            var situation = RecoveryMachine.Situation(now: start, random: 0)
            (situation.canRepeat, situation.hasStale) = (canRepeat, hasStale)
            _ = machine.attemptFailed(failure, situation)
        }
        let last = machine.attempts.last
        let reasons = last?.heldBack.filter { $0.rule == "answer" }.map(\.reason.text) ?? []
        return ([last?.next?.name ?? "nothing"] + reasons).joined(separator: ", ")
    }

    private static func failure(_ sent: Sent, _ kind: FailureKind = .connectionTerminated) -> Failure {
        Failure(kind, sent: sent, "", status: sent == .answered ? 500 : sent == .refused ? 503 : nil)
    }

    private static let unknown = "the outcome is unknown and repeating it may not be safe"
    private static let acted =
        "it was answered and may have been carried out, so repeating it may not be safe"

    @Test(
        "As a kept job would be sent again after the same failure, by how far the request got",
        arguments: [
            (Method.get, false, Sent.neverSent, nil), (.get, false, .refused, nil),
            (.get, false, .unknown, nil), (.get, false, .answered, nil),
            (.post, false, .neverSent, nil), (.post, false, .refused, nil),
            (.post, false, .unknown, unknown), (.post, false, .answered, acted),
            (.post, true, .unknown, nil), (.post, true, .answered, nil),
            (.patch, false, .unknown, unknown), (.put, false, .unknown, nil),
        ] as [(Method, Bool, Sent, String?)]
    )
    func verdicts(method: Method, isKeyed: Bool, sent: Sent, reason: String?) {
        var options = JobOptions()
        options.hasIdempotencyKey = isKeyed
        for action in [placeholder(), .respondStale] {
            var machine = machine([answering(action), rule("later", ["any"], retry())], method, options)
            let words = decided(&machine, [Self.failure(sent)], hasStale: true)
            #expect(words == (reason.map { "respond, not kept: \($0)" } ?? "respond_and_keep"))
        }
    }

    @Test("A body that is gone is not kept")
    func bodyGone() {
        var machine = machine([answering(), rule("later", ["any"], retry())])
        let words = decided(&machine, [Self.failure(.neverSent)], canRepeat: false)
        #expect(words == "respond, not kept: the request body was streamed and is gone")
    }

    @Test("A request that no rule for kept jobs sends again is not kept")
    func noRule() {
        var alone = machine([answering()])
        #expect(
            decided(&alone, [Self.failure(.refused)])
                == "respond, not kept: no rule of the route would send it again"
        )
        var dead = machine([answering(), rule("dead", ["any"], .deadLetter)])
        #expect(
            decided(&dead, [Self.failure(.refused)])
                == "respond, not kept: no rule of the route would send it again"
        )
        var later = machine([answering()]) { $0.deliversLater = true }
        #expect(decided(&later, [Self.failure(.unknown)]) == "respond_and_keep")
        var refusal = Self.failure(.refused, .httpStatus)
        refusal.status = 403
        var final = machine([answering()]) { $0.deliversLater = true }
        #expect(decided(&final, [refusal]) == "respond, not kept: no rule of the route would send it again")
    }

    @Test("The attempts of the request count for the job, by the rules' limits and by its own")
    func allowances() {
        let rules = [rule("transient", ["any"], retry(3)), answering()]
        let failures = Array(repeating: Self.failure(.refused), count: 3)
        var spent = machine(rules)
        #expect(decided(&spent, failures) == "respond, not kept: its 3 attempts (max_attempts) are spent")
        var more = machine(rules + [rule("later", ["any"], retry(2))])
        #expect(decided(&more, failures) == "respond_and_keep")
        var none = machine(rules + [rule("later", ["any"], retry(9))]) { $0.delivery.maxAttempts = 3 }
        #expect(decided(&none, failures) == "respond, not kept: the job's 3 attempts are spent")
        var asked = JobOptions()
        asked.maxAttempts = 1
        var bounded = machine([answering(), rule("later", ["any"], retry(9))], .get, asked)
        #expect(
            decided(&bounded, [Self.failure(.refused)]) == "respond, not kept: the job's 1 attempt are spent"
        )
    }

    @Test("A job that would not be due before it expires is not kept")
    func expires() {
        for (lifetime, isKept) in [(Duration.seconds(3_600), true), (.milliseconds(1), false)] {
            var machine = machine([answering(), rule("later", ["any"], retry())]) {
                $0.delivery.expiresAfter = lifetime
            }
            let words = decided(&machine, [Self.failure(.refused)])
            #expect(words.hasPrefix(isKept ? "respond_and_keep" : "respond, not kept: "), "\(words)")
        }
    }

    @Test("The rule that sends the job again is charged with it, not the one that answered")
    func charged() {
        var machine = machine([answering(), rule("later", ["any"], retry())])
        _ = decided(&machine, [Self.failure(.refused)])
        let last = machine.attempts.last
        #expect(last?.rule == "answer" && last?.chargedRule == "later")
    }

    @Test(
        "A request that is held back may be kept all the same",
        arguments: ["breaker_open", "rate_limited"]
    )
    func holds(kind: String) {
        var machine = machine([answering()], .post)
        let words = decided(&machine, [Self.failure(.neverSent, FailureKind(rawValue: kind))])
        #expect(words == "respond_and_keep")
    }

    @Test("A caller that wants no stand-in gets none, and nothing is kept")
    func fallbackOff() {
        var options = JobOptions()
        options.allowsFallback = false
        var machine = machine([answering(), rule("later", ["any"], retry())], .get, options)
        #expect(decided(&machine, [Self.failure(.refused)]).hasPrefix("retry"))
    }

    @Test("A kept job that comes to the rule is not answered by it")
    func loop() {
        let route = makeRoute { $0.recovery = [answering(), rule("later", ["any"], retry())] }
        var machine = RecoveryMachine(
            route: route,
            method: .get,
            options: JobOptions(),
            now: start,
            history: JobHistory()
        )
        let reason = "an answer in the upstream's stead would not deliver a durable job"
        #expect(decided(&machine, [Self.failure(.refused)]) == "retry, \(reason)")
    }

    @Test("A rule that does not keep keeps nothing")
    func control() {
        var machine = machine([rule("answer", ["any"], placeholder()), rule("later", ["any"], retry())])
        #expect(decided(&machine, [Self.failure(.refused)]) == "respond")
    }
}
