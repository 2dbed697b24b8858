import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The decision after an attempt")
struct RecoveryMachineTests {
    private let start = Instant(nanoseconds: 0)

    private func machine(
        _ rules: [RecoveryRule],
        method: Method = .get,
        options: JobOptions = JobOptions(),
        maxAttempts: Int = 10
    ) -> RecoveryMachine {
        let route = makeRoute {
            $0.recovery = rules
            $0.maxAttempts = maxAttempts
        }
        return RecoveryMachine(route: route, method: method, options: options, now: start)
    }

    /// The names of the decisions for failures that follow each other at once.
    private func decisions(
        _ machine: inout RecoveryMachine,
        _ failures: [Failure],
        canRepeat: Bool = true,
        canRefresh: Bool = true
    ) -> [String] {
        failures.map { failure in
            _ = machine.attemptBegan(at: start, wall: 0)
            var situation = RecoveryMachine.Situation(now: start, random: 0)
            situation.canRepeat = canRepeat
            situation.canRefresh = canRefresh
            let decision = machine.attemptFailed(failure, situation)
            return name(decision, machine.attempts.last?.rule ?? "")
        }
    }

    private func name(_ decision: RecoveryMachine.Decision, _ rule: String) -> String {
        switch decision {
        case .retry: "retry"
        case .refreshCredentials: "refresh"
        case .failover: "failover"
        case .respond: "respond:\(rule)"
        case .respondStale: "stale:\(rule)"
        case .consult: "consult"
        case .resend: "resend"
        case .stop: "stop"
        case .fail: "fail"
        case .deadLetter: "dead_letter"
        case .pauseRoute: "pause_route"
        case .hold: "hold"
        }
    }

    private func status(_ code: UInt16) -> Failure {
        let sent: Sent = code / 100 == 4 ? .refused : .answered
        return Failure(.httpStatus, sent: sent, "", status: Status(rawValue: code))
    }

    private func unknown() -> Failure { Failure(.httpResponseTimeout, sent: .unknown, "") }
    private func refused() -> Failure { Failure(.connectionRefused, sent: .neverSent, "") }

    @Test("Without a rule that matches, the failure is the end")
    func noRule() {
        var machine = machine([rule("a", ["503"], retry())])
        #expect(decisions(&machine, [status(500)]) == ["fail"])
    }

    @Test("A rule of three attempts retries twice", arguments: [1, 2, 3, 7])
    func allowance(attempts: Int) {
        var machine = machine([rule("a", ["503"], retry(attempts))])
        let expected = Array(repeating: "retry", count: attempts - 1) + ["fail"]
        #expect(decisions(&machine, Array(repeating: status(503), count: attempts)) == expected)
    }

    @Test("A retried attempt that fails meets the whole list again from the first rule")
    func wholeListAgain() {
        var machine = machine([
            rule("token", ["401"], .refreshCredentials(maxTimes: 1)), rule("busy", ["503"], retry()),
        ])
        #expect(
            decisions(&machine, [status(503), status(401), status(503)]) == ["retry", "refresh", "retry"]
        )
        #expect(machine.attempts.map(\.rule) == ["busy", "token", "busy"])
    }

    @Test("The cap of the job is shared by all rules")
    func sharedCap() {
        var machine = machine([rule("a", ["503"], retry(9)), rule("b", ["500"], retry(9))], maxAttempts: 3)
        #expect(decisions(&machine, [status(503), status(500), status(503)]) == ["retry", "retry", "fail"])
    }

    @Test("The caller's cap only tightens", arguments: [(2, 1), (50, 2)])
    func callerCap(asked: Int, retries: Int) {
        var options = JobOptions()
        options.maxAttempts = asked
        var machine = machine([rule("a", ["503"], retry(9))], options: options, maxAttempts: 3)
        let expected = Array(repeating: "retry", count: retries) + ["fail"]
        #expect(decisions(&machine, Array(repeating: status(503), count: retries + 1)) == expected)
    }

    @Test("Reading goes on below a spent rule, and the failure then matches exhausted")
    func exhausted() {
        var machine = machine([
            rule("a", ["503"], retry(2)), rule("other", ["exhausted"], .failover(upstream: 1)),
            rule("last", ["exhausted"], placeholder()),
        ])
        #expect(
            decisions(&machine, [status(503), status(503), status(503)]) == [
                "retry", "failover", "respond:last",
            ]
        )
    }

    @Test("A failure that no rule ran out on does not match exhausted")
    func notExhausted() {
        var machine = machine([rule("last", ["exhausted"], placeholder())])
        #expect(decisions(&machine, [status(503)]) == ["fail"])
    }

    @Test("Failover enters an upstream once and never goes back")
    func failoverOnce() {
        var machine = machine([
            rule("there", ["any"], .failover(upstream: 1)), rule("back", ["any"], .failover(upstream: 0)),
        ])
        #expect(decisions(&machine, [status(503), status(503)]) == ["failover", "fail"])
        #expect(machine.attempts.map(\.upstream) == ["one", "two"])
    }

    @Test("A route may have more upstreams than a word has bits, and each is entered once")
    func manyUpstreams() {
        let route = makeRoute { policy in
            policy.upstreams = (0..<100).map { Upstream(name: "u\($0)", origin: .unix(path: "/u\($0)")) }
            policy.recovery = (0..<100).map { rule("r\($0)", ["any"], .failover(upstream: $0)) }
            policy.maxAttempts = 100
        }
        var machine = RecoveryMachine(route: route, method: .get, options: JobOptions(), now: start)
        let taken = decisions(&machine, Array(repeating: status(503), count: 100))
        #expect(taken == Array(repeating: "failover", count: 99) + ["fail"])
        #expect(Set(machine.attempts.map(\.upstream)).count == 100)
    }

    @Test("A fail rule ends the list for what stands below it")
    func failStops() {
        var machine = machine([rule("no", ["404"], .fail), rule("all", ["any"], placeholder())])
        #expect(decisions(&machine, [status(404)]) == ["fail"])
        #expect(machine.attempts[0].rule == "no")
    }

    @Test("Without fallback neither failover nor respond acts")
    func noFallback() {
        var options = JobOptions()
        options.allowsFallback = false
        var machine = machine(
            [rule("f", ["any"], .failover(upstream: 1)), rule("r", ["any"], placeholder())],
            options: options
        )
        #expect(decisions(&machine, [status(503)]) == ["fail"])
    }

    @Test(
        "A refresh is asked for only while the credential can be fetched, its rule has times and the job has attempts left",
        .clauses("G2-16", "G2-17", "X-12"),
        arguments: [(1, 10, true, 1), (3, 10, true, 3), (1, 10, false, 0), (1, 1, true, 0), (3, 3, true, 2)]
    )
    func refreshAllowance(maxTimes: Int, maxAttempts: Int, canRefresh: Bool, times: Int) {
        let rules = [
            rule("t", ["401"], .refreshCredentials(maxTimes: maxTimes)),
            rule("r", ["exhausted"], placeholder()),
        ]
        var machine = machine(rules, maxAttempts: maxAttempts)
        let refused = Array(repeating: status(401), count: times + 1)
        #expect(
            decisions(&machine, refused, canRefresh: canRefresh)
                == Array(repeating: "refresh", count: times) + ["respond:r"]
        )
    }

    @Test(
        "After an unknown outcome only a request that is safe to repeat is repeated",
        .clauses("N-09", "UC-15"),
        arguments: [
            ("GET", false, RepeatableMethods.idempotentOrKeyed, true),
            ("PUT", false, .idempotentOrKeyed, true),
            ("POST", false, .idempotentOrKeyed, false), ("POST", true, .idempotentOrKeyed, true),
            ("POST", true, .idempotent, false), ("PATCH", false, .any, true), ("POST", false, .any, true),
            ("DELETE", false, .idempotent, true),
        ]
    )
    func unknownOutcome(method: String, keyed: Bool, methods: RepeatableMethods, repeats: Bool) {
        var options = JobOptions()
        options.hasIdempotencyKey = keyed
        var machine = machine(
            [rule("a", ["timeout"], retry(methods: methods))],
            method: Method(rawValue: method),
            options: options
        )
        #expect(decisions(&machine, [unknown()]) == [repeats ? "retry" : "fail"])
        #expect((machine.attempts[0].heldBack.map(\.reason) == [.outcomeUnknown]) == !repeats)
    }

    @Test("A POST that was never sent, or was refused, is repeated as the rules say")
    func postRepeats() {
        var machine = machine([rule("a", ["any"], retry(3))], method: .post)
        #expect(decisions(&machine, [refused(), status(429), status(429)]) == ["retry", "retry", "fail"])
    }

    @Test(
        "An unknown outcome keeps a POST from another upstream too, and lets an answer of the relay's own through"
    )
    func unknownFailover() {
        var machine = machine(
            [rule("f", ["any"], .failover(upstream: 1)), rule("r", ["exhausted"], placeholder())],
            method: .post
        )
        #expect(decisions(&machine, [unknown()]) == ["respond:r"])
    }

    @Test("Attempts that never reached the wire do not count against the job, but against their rule")
    func neverSentIsFree() {
        var free = machine(
            [rule("a", ["connection"], retry(5)), rule("b", ["503"], retry(2))],
            maxAttempts: 2
        )
        #expect(
            decisions(&free, [refused(), refused(), status(503), refused(), status(503)])
                == ["retry", "retry", "retry", "retry", "fail"]
        )
    }

    @Test("However many rules repeat what is never sent, together they do so a hundred times at most")
    func neverSentEnds() {
        let rules = ["a", "b", "c"].map { rule($0, ["connection"], retry(60)) }
        var machine = machine(rules, maxAttempts: 2)
        #expect(decisions(&machine, Array(repeating: refused(), count: 100)).suffix(2) == ["retry", "fail"])
        #expect(machine.attempts[99].heldBack.contains(HeldBack(rule: "b", reason: .neverSent(100))))
    }

    @Test("A body that is gone is not sent again")
    func bodyGone() {
        var machine = machine([rule("a", ["any"], retry()), rule("r", ["exhausted"], placeholder())])
        #expect(decisions(&machine, [status(503)], canRepeat: false) == ["respond:r"])
        #expect(machine.attempts[0].heldBack == [HeldBack(rule: "a", reason: .bodyGone)])
    }

    @Test("Cancellation is offered to no rule")
    func cancellation() {
        var machine = machine([rule("all", ["any", "exhausted"], placeholder())])
        #expect(decisions(&machine, [Failure(.cancelled, sent: .unknown, "")]) == ["fail"])
    }

    @Test("A failed preparation is final")
    func preparation() {
        var machine = machine([rule("all", ["any"], placeholder())])
        #expect(decisions(&machine, [Failure(.preparation, sent: .neverSent, "")]) == ["fail"])
    }

    @Test("A failure that the validator calls not retryable passes the retry rules by")
    func notRetryable() {
        var failure = Failure("busy", sent: .answered, "", status: 200)
        failure.isRetryable = false
        var machine = machine([rule("a", ["busy"], retry()), rule("r", ["any"], placeholder())])
        #expect(decisions(&machine, [failure]) == ["respond:r"])
    }

    @Test(
        "The wait is the longer of backoff and Retry-After, which is cut at the rule's cap",
        .clauses("N-06"),
        arguments: [(nil, 100), (0.0, 100), (2.0, 2000), (3600.0, 10_000)] as [(Double?, Int64)]
    )
    func retryAfter(seconds: Double?, expected: Int64) {
        var machine = machine([rule("a", ["503"], retry(maxRetryAfter: .seconds(10)))])
        var failure = status(503)
        failure.retryAfter = seconds.map { .seconds($0) }
        _ = machine.attemptBegan(at: start, wall: 0)
        let decision = machine.attemptFailed(failure, RecoveryMachine.Situation(now: start, random: 0))
        guard case .retry(let at) = decision else {
            Issue.record("it did not retry")
            return
        }
        #expect(at == start.advanced(by: .milliseconds(expected)))
    }

    @Test("No attempt begins after the deadline: a wait that would pass it is not begun")
    func deadline() {
        var options = JobOptions()
        options.timeout = .seconds(5)
        var machine = machine(
            [rule("a", ["503"], retry(wait: .seconds(5))), rule("r", ["exhausted"], placeholder())],
            options: options
        )
        #expect(decisions(&machine, [status(503)]) == ["respond:r"])
    }

    @Test("An attempt's deadline is the sooner of its own timeout and the job's")
    func attemptDeadline() {
        let route = makeRoute {
            $0.timeouts.attempt = .seconds(4)
            $0.timeouts.total = .seconds(6)
        }
        var machine = RecoveryMachine(route: route, method: .get, options: JobOptions(), now: start)
        #expect(machine.attemptBegan(at: start, wall: 0).deadline == start.advanced(by: .seconds(4)))
        #expect(
            machine.attemptBegan(at: start.advanced(by: .seconds(3)), wall: 0).deadline
                == start.advanced(by: .seconds(6))
        )
    }

    @Test("error_types may give a failure the status that rules match")
    func treatedAsStatus() {
        var failure = Failure("unauthorized", sent: .answered, "", status: 200)
        failure.treatedAsStatus = 401
        var machine = machine([rule("t", ["401"], .refreshCredentials(maxTimes: 1))])
        #expect(decisions(&machine, [failure]) == ["refresh"])
    }

    @Test("However the rules are written, a job ends")
    func ends() {
        var machine = machine(
            (0..<40).map { rule("r\($0)", ["any"], retry(100)) },
            maxAttempts: 100
        )
        var sends = 0
        while sends < 10_000 {
            sends += 1
            if decisions(&machine, [refused()]) == ["fail"] { break }
        }
        #expect(sends <= 1000)
    }
}
