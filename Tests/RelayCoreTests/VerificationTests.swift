import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import RelayTesting
import Testing

private let found = ScriptedTransport.Step.answer(200, [:], #"{"found":true}"#)
private let absent = ScriptedTransport.Step.answer(200, [:], #"{"absent":true}"#)
private let lost = ScriptedTransport.Step.fail(.httpResponseTimeout, .unknown)
private let order = Body.bytes(Array(#"{"reference":"a/b?c&d"}"#.utf8))

/// A route that repeats what may be repeated, and asks before that.
private func asking(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
    makeRoute {
        $0.verification = verification()
        $0.recovery = [rule("again", ["any"], retry())]
        change(&$0)
    }
}

@Suite("Asking before repeating", .runQueue, .timeLimit(.minutes(5)))
struct VerificationTests {
    /// Steps, methods that were sent, and how it came out.
    struct Row: Sendable {
        var steps: [ScriptedTransport.Step]
        var sent: String
        var end: String
        var words: [String?]

        init(_ steps: [ScriptedTransport.Step], _ sent: String, _ end: String, _ words: [String?]) {
            (self.steps, self.sent, self.end, self.words) = (steps, sent, end, words)
        }
    }

    @Test(
        "A POST without a key is asked about, and sent again only where the upstream says that it was not carried out",
        arguments: [
            Row([lost, found], "POST GET", "verified 200", [nil, "found"]),
            Row([.answer(500), found], "POST GET", "verified 200", [nil, "found"]),
            Row([lost, absent, .answer(201)], "POST GET POST", "upstream 201", [nil, "absent", nil]),
            Row(
                [lost, .answer(503), absent, .answer(201)],
                "POST GET GET POST",
                "upstream 201",
                [nil, "unclear", "absent", nil]
            ),
            Row(
                [lost, .answer(503), .answer(404), .answer(200, [:], "{}")],
                "POST GET GET GET",
                "http_response_timeout unknown",
                [nil, "unclear", "unclear", "unclear"]
            ),
            // It says both.
            Row(
                [lost, .answer(200, [:], #"{"found":1,"absent":1}"#), found],
                "POST GET GET",
                "verified 200",
                [nil, "unclear", "found"]
            ),
            Row([.answer(409), .answer(201)], "POST POST", "upstream 201", [nil, nil]),
            Row(
                [.fail(.connectionRefused, .neverSent), .answer(201)],
                "POST POST",
                "upstream 201",
                [nil, nil]
            ),
            Row(
                [lost, absent, lost, found],
                "POST GET POST GET",
                "verified 200",
                [nil, "absent", nil, "found"]
            ),
            // An attempt that is absent counts against the rule and the job.
            Row(
                [lost, absent, lost, absent, lost, absent],
                "POST GET POST GET POST GET",
                "http_response_timeout refused",
                [nil, "absent", nil, "absent", nil, "absent"]
            ),
        ]
    )
    func table(_ row: Row) async {
        let bench = Bench(row.steps)
        let outcome = await bench.perform(.post, on: asking(), body: order)
        #expect(bench.transport.sent.map(\.method.rawValue).joined(separator: " ") == row.sent)
        let end = outcome.failure.map { "\($0.kind) \($0.sent.rawValue)" }
        #expect((end ?? "\(outcome.source?.rawValue ?? "") \(outcome.status ?? 0)") == row.end)
        #expect(outcome.attempts.map(\.lookUp?.rawValue) == row.words)
        #expect(outcome.attempts.map(\.number) == Array(1...row.words.count))
    }

    @Test(
        "An error document of the route beside a status of success is neither, whatever found and absent name",
        arguments: [#"{"error":1}"#, #"{"error":1,"found":true}"#, #"{"error":1,"absent":true}"#]
    )
    func errorDocument(content: String) async throws {
        let bench = Bench([lost, .answer(200, [:], content), found])
        let outcome = await bench.perform(
            .post,
            on: asking { $0.apiError = APIErrorRule(require: [pointer("/error")]) },
            body: order
        )
        #expect(outcome.attempts.map(\.lookUp) == [nil, .unclear, .found])
        #expect(outcome.attempts[1].failure?.kind == .apiError && outcome.source == .verified)
        // A status that the operator has named says what it says.
        var missing = SuccessRule()
        missing.statuses = StatusSet(codes: [404])
        let asked = try Verification(path: "charges", found: SuccessRule(), absent: missing)
        let named = Bench([lost, .answer(404, [:], #"{"error":1}"#), .answer(201)])
        let again = await named.perform(
            .post,
            on: asking {
                $0.apiError = APIErrorRule(require: [pointer("/error")])
                $0.verification = asked
            },
            body: order
        )
        #expect(again.attempts.map(\.lookUp) == [nil, .absent, nil] && again.status == 201)
    }

    @Test(
        "It is asked after settle_after, with values of the request that are encoded, and the route's credential"
    )
    func question() async {
        let bench = Bench(
            [lost, found],
            credentials: [CredentialDefinition(name: "key", kind: .fixed(.environment("KEY")))],
            secrets: [.environment("KEY"): Secret("s3cret")]
        )
        let route = asking {
            $0.authentication = Authentication(form: .bearer, credential: "key")
            $0.request.setFields = [("X-Version", "2")]
            $0.verification = verification(settleAfter: .seconds(4))
        }
        let outcome = await bench.perform(.post, on: route, body: order)
        #expect(outcome.source == .verified && bench.time.waits == [.seconds(4)])
        let asked = bench.transport.sent[1]
        #expect(asked.target == "/api/charges?reference=a%2Fb%3Fc%26d" && asked.upstream.name == "one")
        #expect(asked[.authorization] == "Bearer s3cret" && asked[FieldName("x-version")!] == "2")
        #expect(asked.body.length == 0 && asked.timeLimit?.name == "verify.timeout")
        #expect(outcome.attempts[0].next == .verify(after: .seconds(4)))
    }

    @Test("A route may name the upstream that is asked, and the failures after which it is")
    func choices() async {
        let elsewhere = Bench([lost, found])
        let route = asking { $0.verification?.upstream = 1 }
        #expect(await elsewhere.perform(.post, on: route, body: order).source == .verified)
        #expect(elsewhere.transport.sent.map(\.upstream.name) == ["one", "two"])
        let unasked = Bench([.answer(500)])
        let narrow = asking { $0.verification?.on = FailureMatcher([.group(.timeout)]) }
        #expect(await unasked.perform(.post, on: narrow, body: order).failure?.sent == .answered)
        #expect(unasked.transport.sent.count == 1)
    }

    @Test(
        "Requests that may be repeated otherwise are asked about as well, and those that change nothing are not"
    )
    func methods() async {
        let put = Bench([lost, found])
        #expect(await put.perform(.put, on: asking(), body: order).source == .verified)
        let get = Bench([lost, .answer(200)])
        #expect(await get.perform(.get, on: asking()).source == .upstream)
        #expect(get.transport.sent.map(\.method) == [.get, .get])
    }

    @Test(
        "A request with nothing to ask by is sent all the same, and stays in doubt where its answer is lost",
        arguments: [
            ("charges/{key}", "{}"), ("charges/{header:X-Order}", "{}"), ("charges/{json:/id}", "{}"),
            ("charges/{json:/id}", #"{"id":null}"#), ("charges/{json:/id}", #"{"id":""}"#),
            ("charges/{json:/id}", #"{"id":".."}"#), ("charges/{json:/id}", #"{"id":{"a":1}}"#),
            ("charges/{json:/id}", "no JSON"),
            ("charges/{json:/id}", #"{"id":"\#(String(repeating: "a", count: 257))"}"#),
        ]
    )
    func missing(path: String, body: String) async {
        let route = asking { $0.verification = verification(path) }
        let content = Body.bytes(Array(body.utf8))
        let good = Bench([.answer(201)])
        #expect(await good.perform(.post, on: route, body: content).status == 201)
        let bench = Bench([lost])
        let outcome = await bench.perform(.post, on: route, body: content)
        #expect(outcome.failure?.sent == .unknown && bench.transport.sent.count == 1)
        let held = outcome.attempts[0].heldBack.first
        #expect(
            held?.rule == "verify" && held?.reason.text.hasPrefix("the upstream cannot be asked: ") == true
        )
        // After a crash nobody can ask either, and what may not be repeated is not.
        var history = JobHistory()
        history.attempts = 1
        history.spentAttempts = 1
        history.count(Attempt(interrupted: BegunAttempt(upstream: "one", beganAt: 1), number: 1))
        let kept = Bench([.answer(201)])
        let run = await kept.deliver(.post, on: route, history, body: content)
        #expect(run.words == "dead outcome_unknown" && kept.transport.sent.isEmpty)
        #expect(run.attempts.map(\.lookUp) == [.unclear])
    }

    @Test("A failing answer without content is what its caller gets where the question comes to nothing")
    func empty() async {
        let route = asking { $0.verification?.attempts = 1 }
        let bench = Bench([.answer(500), .answer(503)])
        let outcome = await bench.perform(.post, on: route, body: order)
        #expect(outcome.failure?.status == 500 && outcome.answer?.status == 500)
    }

    @Test("Key, id, route and fields stand for their values")
    func placeholders() async {
        let bench = Bench([lost, found])
        let route = asking {
            $0.verification = verification("c/{key}/{job.id}/{route}?o={header:X-Order}&n={json:/n}")
        }
        var fields = HeaderFields()
        fields.append("Idempotency-Key", "k 1")
        fields.append("X-Order", "7&8")
        let content = Body.bytes(Array(#"{"n":12}"#.utf8))
        let outcome = await bench.perform(.post, on: route, fields: fields, body: content)
        #expect(outcome.source == .verified)
        let id = JobID(milliseconds: 1, random: (2, 3)).description
        #expect(bench.transport.sent[1].target == "/api/c/k%201/\(id)/test?o=7%268&n=12")
    }

    @Test(
        "A failing answer that comes as a stream is what its caller gets where the question comes to nothing"
    )
    func streamed() async {
        let route = asking {
            $0.success.statuses = StatusSet(codes: [201])
            $0.verification?.attempts = 1
        }
        for length in [UInt64?.none, 3] {
            let bench = Bench([.stream(PieceBody([Array("why".utf8)], length: length)), .answer(503)])
            let outcome = await bench.perform(.post, on: route, body: order)
            #expect(outcome.failure?.status == 200 && outcome.answer?.status == 200)
            guard case .bytes(let bytes)? = outcome.answer?.body else {
                Issue.record("the answer has no content")
                continue
            }
            #expect(String(decoding: bytes, as: UTF8.self) == "why")
        }
        let pieces = PieceBody(Array(repeating: Array(repeating: 1, count: 100_000), count: 3))
        let large = Bench([.stream(pieces), .answer(503)])
        let outcome = await large.perform(.post, on: route, body: order)
        #expect(outcome.answer == nil && pieces.isCancelled)
        #expect(
            outcome.failure?.detail.hasSuffix("was given up to ask what became of the request (verify)")
                == true
        )
    }

    @Test(
        "An upstream's word that it has nothing says so of what went there, and of all where it is named for that"
    )
    func elsewhere() async {
        func route(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
            asking {
                $0.recovery = [rule("other", ["any"], .failover(upstream: 1, methods: .any))]
                $0.verification?.attempts = 1
                change(&$0)
            }
        }
        let steps = [lost, .answer(503), lost, absent]
        let bench = Bench(steps)
        let outcome = await bench.perform(.post, on: route(), body: order)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one", "one", "two", "two"])
        #expect(outcome.failure?.sent == .unknown)
        let named = await Bench(steps).perform(
            .post,
            on: route { $0.verification?.upstream = 1 },
            body: order
        )
        #expect(named.failure?.sent == .refused)
        let both = await Bench([lost, absent, lost, absent]).perform(.post, on: route(), body: order)
        #expect(both.failure?.sent == .refused)
    }

    @Test("A request without time for the wait is not asked about, which its timeline says")
    func deadline() async {
        let bench = Bench([lost])
        let route = asking { $0.timeouts.total = .milliseconds(900) }
        let outcome = await bench.perform(.post, on: route, body: order)
        #expect(outcome.failure?.sent == .unknown && bench.transport.sent.count == 1)
        #expect(
            outcome.attempts[0].heldBack.first
                == HeldBack(rule: "verify", reason: .deadline(wait: .seconds(1)))
        )
    }
}

@Suite("Asking about kept jobs", .runQueue, .timeLimit(.minutes(5)))
struct KeptVerificationTests {
    private func crashed() -> JobHistory {
        var history = JobHistory()
        history.attempts += 1
        history.spentAttempts += 1
        history.count(Attempt(interrupted: BegunAttempt(upstream: "one", beganAt: 1), number: 1))
        return history
    }

    @Test("A run ends with the wait, and the next one asks first")
    func runs() async {
        let bench = Bench([lost, found])
        let runs = await bench.deliverToTheEnd(.post, on: asking(), body: order)
        #expect(runs.map(\.words) == ["retry 1.0 seconds", "succeeded 200 verified"])
        #expect(runs[0].isUncertain && bench.transport.sent.map(\.method) == [.post, .get])
        let again = Bench([lost, .answer(503), absent, .answer(201)])
        let more = await again.deliverToTheEnd(.post, on: asking(), body: order)
        #expect(more.last?.words == "succeeded 201 upstream")
        #expect(again.transport.sent.map(\.method) == [.post, .get, .get, .post])
        #expect(more.dropLast().last?.isSettled == true && more.dropLast().last?.isUncertain == false)
    }

    @Test("An attempt that a crash cut off is asked about before anything else, after settle_after")
    func crash() async {
        let carried = Bench([found])
        #expect(
            await carried.deliver(.post, on: asking(), crashed(), body: order).words
                == "succeeded 200 verified"
        )
        #expect(carried.time.waits == [.seconds(1)] && carried.transport.sent.map(\.method) == [.get])
        let not = Bench([absent, .answer(201)])
        let run = await not.deliver(.post, on: asking(), crashed(), body: order)
        #expect(run.words == "succeeded 201 upstream" && run.attempts.map(\.number) == [2, 3])
        let spent = Bench([absent])
        let route = asking { $0.maxAttempts = 1 }
        #expect(await spent.deliver(.post, on: route, crashed(), body: order).words == "dead exhausted")
        let found = Bench([found])
        #expect(
            await found.deliver(.post, on: route, crashed(), body: order).words == "succeeded 200 verified"
        )
    }

    @Test("A job that an operator has sent at once waits until the upstream can show what it did")
    func hurried() async {
        let bench = Bench([lost, found], mode: .manual)
        let route = asking { $0.verification?.settleAfter = .seconds(300) }
        var history = JobHistory()
        history = history.carried(await bench.deliver(.post, on: route, history, body: order))
        bench.time.advance(by: .seconds(100))
        #expect(await bench.deliver(.post, on: route, history, body: order).words == "retry 200.0 seconds")
        #expect(bench.transport.sent.count == 1)
        bench.time.advance(by: .seconds(200))
        #expect(
            await bench.deliver(.post, on: route, history, body: order).words == "succeeded 200 verified"
        )
        // Of another life nobody knows when it ended.
        var replayed = JobHistory()
        replayed.beginsInDoubt()
        let again = Bench([found])
        #expect(
            await again.deliver(.post, on: route, replayed, body: order).words == "succeeded 200 verified"
        )
        #expect(again.time.waits == [.seconds(300)])
    }

    @Test("A kept job that went to two upstreams is in doubt until both have said that they have nothing")
    func twoUpstreams() async {
        let route = asking { $0.recovery = [] }
        for isAbsent in [true, false] {
            var history = JobHistory()
            history.isInDoubt = true
            for (number, upstream) in ["one", "two"].enumerated() {
                var attempt = Attempt(number: number * 2 + 1, upstream: upstream, beganAt: 1)
                attempt.failure = Failure(.httpResponseTimeout, sent: .unknown, "")
                attempt.next = .verify(after: .seconds(1))
                history.attempts += 1
                history.count(attempt)
                guard number == 0 else { continue }
                var asked = Attempt(number: 2, upstream: upstream, beganAt: 1)
                asked.lookUp = isAbsent ? .absent : .unclear
                asked.next = .failover(to: "two")
                history.attempts += 1
                history.count(asked)
            }
            #expect(history.unsettled == (isAbsent ? ["two"] : ["one", "two"]))
            let bench = Bench([absent])
            let run = await bench.deliver(.post, on: route, history, body: order)
            #expect(bench.transport.sent.map(\.upstream.name) == ["two"])
            #expect(run.isSettled == isAbsent)
            #expect(run.words == (isAbsent ? "dead exhausted" : "dead outcome_unknown"))
        }
    }

    @Test(
        "A job that another life left with two upstreams asks the last, whose word settles no more than its own"
    )
    func earlierLife() async {
        func history(_ upstreams: [String]) -> JobHistory {
            var history = JobHistory()
            history.beginsInDoubt()
            for (index, upstream) in upstreams.enumerated() {
                var attempt = Attempt(number: index + 1, upstream: upstream, beganAt: 1)
                attempt.failure = Failure(.httpResponseTimeout, sent: .unknown, "")
                history.attempts += 1
                history.count(earlier: attempt)
            }
            return history
        }
        for (upstreams, isSettled) in [(["two"], true), (["one", "two"], false)] {
            let bench = Bench([absent, .answer(409)])
            let run = await bench.deliver(.post, on: asking(), history(upstreams), body: order)
            #expect(bench.transport.sent.map(\.upstream.name) == ["two", "one"])
            #expect(run.isSettled == isSettled)
        }
    }

    @Test("Where the upstream does not say, it stays in doubt after a crash as ever")
    func doubt() async {
        let bench = Bench([.answer(503), .answer(503), .answer(503)])
        var history = crashed()
        var run = await bench.deliver(.post, on: asking(), history, body: order)
        while case .retry(let wait, _) = run.ending {
            bench.time.advance(by: wait)
            history = history.carried(run)
            run = await bench.deliver(.post, on: asking(), history, body: order)
        }
        #expect(run.words == "dead outcome_unknown" && bench.transport.sent.count == 3)
        // Without the upstream's word nothing changes for a job that may be repeated.
        let put = Bench([.answer(503), .answer(201)])
        let route = asking { $0.verification?.attempts = 1 }
        #expect(await put.deliver(.put, on: route, crashed(), body: order).words == "succeeded 201 upstream")
    }

    @Test("A job in doubt whose route does not ask any more ends as ever")
    func removed() async {
        var history = JobHistory()
        let bench = Bench([lost])
        history = history.carried(await bench.deliver(.post, on: asking(), history, body: order))
        let plain = asking { $0.verification = nil }
        #expect(
            await Bench([.answer(201)]).deliver(.post, on: plain, history, body: order).words
                == "dead outcome_unknown"
        )
    }

    @Test("A crash while a question is open leaves the doubt with the upstream that has the request")
    func openQuestion() async {
        var history = JobHistory()
        let bench = Bench([lost])
        history = history.carried(await bench.deliver(.post, on: asking(), history, body: order))
        #expect(history.doubt?.upstream == "one")
        let spent = history.spentAttempts
        history.attempts += 1
        history.spentAttempts += 1
        let cut = Attempt(interrupted: BegunAttempt(upstream: "other", beganAt: 1), number: 2)
        history.count(cut, on: asking(), .post)
        // A question spends no attempt, one that a crash has cut off neither.
        #expect(history.doubt?.upstream == "one" && history.spentAttempts == spent)
    }

    @Test(
        "A job in doubt that the rules now in force cannot ask about stays in doubt, and any other is sent"
    )
    func unaskable() async {
        let nothing = Body.bytes(Array("{}".utf8))
        #expect(
            await Bench([]).deliver(.post, on: asking(), crashed(), body: nothing).words
                == "dead outcome_unknown"
        )
        let other = Bench([.answer(201)])
        #expect(
            await other.deliver(.post, on: asking(), JobHistory(), body: nothing).words
                == "succeeded 201 upstream"
        )
    }

    @Test("A crash in a life that began in doubt leaves its own, which only the upstream's word settles")
    func crashedAgain() async {
        var history = JobHistory()
        history.beginsInDoubt()
        history.attempts = 1
        history.count(Attempt(interrupted: BegunAttempt(upstream: "one", beganAt: 1), number: 1))
        #expect(history.doubt?.isEarlier == false)
        let route = asking { $0.verification?.attempts = 1 }
        let silent = Bench([.answer(503), .answer(201)])
        #expect(
            await silent.deliver(.post, on: route, history, body: order).words == "dead outcome_unknown"
        )
    }

    @Test("A doubt about an upstream that the route no longer has ends as without a question")
    func renamed() async {
        var history = JobHistory()
        history.attempts = 1
        history.count(Attempt(interrupted: BegunAttempt(upstream: "gone", beganAt: 1), number: 1))
        let route = asking { $0.upstreams.append(Upstream(name: "two", origin: .unix(path: "/run/two"))) }
        let bench = Bench([.answer(404), .answer(201)])
        #expect(
            await bench.deliver(.post, on: route, history, body: order).words == "dead outcome_unknown"
        )
    }

    @Test("A job that an operator wants sent is asked about, and sent where the upstream does not say")
    func replayed() async {
        var history = JobHistory()
        history.beginsInDoubt()
        let bench = Bench([found])
        #expect(
            await bench.deliver(.post, on: asking(), history, body: order).words == "succeeded 200 verified"
        )
        let route = asking { $0.verification?.attempts = 1 }
        let silent = Bench([.answer(503), .answer(201)])
        #expect(
            await silent.deliver(.post, on: route, history, body: order).words == "succeeded 201 upstream"
        )
    }

    @Test(
        "A stop during the attempt leaves the job to be asked about, and one during the question burns nothing"
    )
    func stop() async {
        for steps in [[ScriptedTransport.Step.hold], [lost, .hold]] {
            let bench = Bench(steps)
            var history = JobHistory()
            if steps.count == 2 {
                history = history.carried(await bench.deliver(.post, on: asking(), history, body: order))
                bench.time.advance(by: .seconds(1))
            }
            let before = history
            let task = Task { await bench.deliver(.post, on: asking(), before, body: order) }
            await untilIdle()
            task.cancel()
            let run = await task.joined()
            #expect(run.words == (steps.count == 1 ? "retry 1.0 seconds" : "back now"))
            history = history.carried(run)
            let next = Bench([found])
            next.time.advance(by: .seconds(1))
            #expect(
                await next.deliver(.post, on: asking(), history, body: order).words
                    == "succeeded 200 verified"
            )
        }
    }
}

@Suite("An upstream that can be asked is charged once", .runQueue, .timeLimit(.minutes(5)))
struct ChargedOnceTests {
    struct Run {
        /// How often the upstream charged, and said that it had nothing when it had.
        var charged: Int
        var denied: Int
        var succeeded = false
        var isUndone = false
        /// Questions that stand on record as answered so.
        var absent = 0

        init(_ upstream: ChargedUpstream, _ attempts: [Attempt]) {
            (charged, denied) = (upstream.charged, upstream.denied)
            absent = attempts.count { $0.lookUp == .absent }
        }
    }

    /// Runs one request or job against an upstream that loses answers.
    private func charges(
        _ seed: UInt64,
        asks: Bool,
        isKept: Bool,
        settleAfter: Duration = .seconds(2),
        lies: Bool = false
    ) async -> Run {
        let clock = VirtualTime(.jumping)
        let upstream = ChargedUpstream(seed: seed, delay: .seconds(2), lies: lies) { clock.now() }
        let bench = Bench([], time: clock) { upstream.answer($0) }
        let route = makeRoute {
            $0.timeouts.total = .seconds(86_400)
            $0.traffic = .off
            $0.recovery = [rule("again", ["any"], retry(6, methods: asks ? .idempotentOrKeyed : .any))]
            if asks {
                $0.verification = verification(settleAfter: settleAfter)
                $0.verification?.attempts = 8
            }
        }
        guard isKept else {
            let outcome = await bench.perform(.post, on: route, body: order)
            var end = Run(upstream, outcome.attempts)
            end.isUndone = outcome.failure.map { !$0.sent.mayHaveActed } ?? false
            end.succeeded = outcome.failure == nil
            return end
        }
        var attempts: [Attempt] = []
        var random = SplitMix64(seed: seed ^ 0xC4A5)
        var history = JobHistory()
        for _ in 0..<60 {
            if random.chance(15), history.attempts < 4 {
                // The relay crashes while the attempt is under way, or the question.
                if history.doubt == nil { upstream.chargeForNobody() }
                history.attempts += 1
                history.spentAttempts += 1
                let cut = Attempt(
                    interrupted: BegunAttempt(upstream: "one", beganAt: 1),
                    number: history.attempts
                )
                history.count(cut, on: route, .post)
                continue
            }
            let run = await bench.deliver(.post, on: route, history, body: order)
            attempts += run.attempts
            switch run.ending {
            case .retry(let wait, _), .requeued(let wait, _): clock.advance(by: wait)
            default:
                var end = Run(upstream, attempts)
                (end.isUndone, end.succeeded) = (run.ending == .dead(.exhausted), run.ending == .succeeded)
                return end
            }
            history = history.carried(run)
        }
        return Run(upstream, attempts)
    }

    @Test(
        "It is charged once by a success, never twice, and not at all where that is said",
        arguments: [false, true]
    )
    func once(isKept: Bool) async {
        var successes = 0
        for seed in UInt64(1)...600 {
            let run = await charges(seed, asks: true, isKept: isKept)
            #expect(run.charged <= 1, "seed \(seed)")
            if run.succeeded { #expect(run.charged == 1, "seed \(seed)") }
            if run.isUndone { #expect(run.charged == 0, "seed \(seed)") }
            if run.succeeded { successes += 1 }
        }
        #expect(successes > 500)
    }

    @Test(
        "Of an upstream that shows too late what it did, or lies, each further charge is its word's, and on record",
        arguments: [false, true],
        [false, true]
    )
    func denied(isKept: Bool, lies: Bool) async {
        var further = 0
        for seed in UInt64(1)...300 {
            let settleAfter: Duration = lies ? .seconds(2) : .zero
            let run = await charges(seed, asks: true, isKept: isKept, settleAfter: settleAfter, lies: lies)
            #expect(run.charged <= 1 + run.denied && run.denied <= run.absent, "seed \(seed)")
            further += max(0, run.charged - 1)
        }
        #expect(further > 5)
    }

    @Test(
        "A relay that repeats without asking charges twice, as does one that asks too early",
        arguments: [false, true]
    )
    func control(isKept: Bool) async {
        var (unasked, early) = (0, 0)
        for seed in UInt64(1)...200 {
            if await charges(seed, asks: false, isKept: isKept).charged > 1 { unasked += 1 }
            if await charges(seed, asks: true, isKept: isKept, settleAfter: .zero).charged > 1 { early += 1 }
        }
        #expect(unasked > 20 && early > 5)
    }
}
