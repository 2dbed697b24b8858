import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("A run that ends through no fault of its job", .runQueue, .timeLimit(.minutes(5)))
struct InterruptedDeliveryTests {
    /// A route whose rules would all act, were they asked.
    private func eager(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
        makeRoute {
            $0.quickRecovery = [
                QuickRecoveryRule(
                    on: FailureMatcher([.kind(.credentialsFailed), .kind(.overloaded)]),
                    status: 204
                )
            ]
            $0.errorTypes = [
                ErrorTypeRule(
                    on: FailureMatcher([.kind(.credentialsFailed), .kind(.overloaded)]),
                    apiCodes: [],
                    kind: "ours",
                    treatAsStatus: nil
                )
            ]
            $0.recovery = [rule("any", ["any"], .deadLetter)]
            change(&$0)
        }
    }

    @Test("Without its credential the job goes back: no rule is asked, nothing is burned or recorded")
    func credentials() async {
        let bench = Bench([.answer(200)])
        let run = await bench.deliver(
            on: eager { $0.authentication = Authentication(form: .bearer, credential: "key") }
        )
        #expect(run.words == "back credentials" && run.attempts.isEmpty && run.answer == nil)
        #expect(run.failure?.kind == .credentialsFailed && bench.transport.sent.isEmpty)
        #expect(bench.sink.events.isEmpty)
    }

    @Test("When the credential fails after a 401, the 401 stays on record, and it does not count")
    func failedRefresh() async {
        let bench = tokenBench { $0 == 1 ? .answer(200, [], #"{"access_token":"t1"}"#) : .answer(500) }
        let run = await bench.deliver(on: refreshing)
        #expect(run.words == "back credentials" && run.attempts.map(\.status) == [401])
        #expect(JobHistory().carried(run).spentAttempts == 0)
    }

    @Test(
        "A credential that is refused when it is fresh as well holds a kept job back, which spends nothing on it"
    )
    func refusedAnew() async {
        let bench = tokenBench { .answer(200, [], #"{"access_token":"t\#($0)"}"#) }
        let route = refreshing(isGivenUp: false)
        let memory = RouteMemory()
        let first = await bench.deliver(on: route, memory: memory)
        #expect(first.words == "back credentials" && first.attempts.map(\.status) == [401, 401])
        #expect(first.failure?.kind == .credentialsFailed && first.failure?.status == 401)
        let history = JobHistory().carried(first)
        #expect(history.spentAttempts == 0 && history.attempts == 2)
        bench.time.advance(by: .seconds(3_600))
        let second = await bench.deliver(on: route, history, memory: memory)
        #expect(second.words == "succeeded 200 upstream" && second.attempts.map(\.status) == [401, 200])
    }

    @Test("A rule that is for the refusal ends the job all the same")
    func givenUp() async {
        let bench = tokenBench { .answer(200, [], #"{"access_token":"t\#($0)"}"#) }
        let run = await bench.deliver(on: refreshing)
        #expect(run.words == "dead rejected" && run.attempts.map(\.status) == [401, 401])
    }

    @Test(
        "A job that may have been carried out is sent again for no credential, whatever its route calls the failure"
    )
    func cutOffAsRefusal() async {
        let bench = tokenBench(
            { .answer(200, [], #"{"access_token":"t\#($0)"}"#) },
            refusing: { .fail(.httpResponseIncomplete, .unknown) }
        )
        var policy = refreshing(isGivenUp: false).policy
        policy.errorTypes = [
            ErrorTypeRule(
                on: FailureMatcher([.kind(.httpResponseIncomplete)]),
                apiCodes: [],
                kind: "cut",
                treatAsStatus: 401
            )
        ]
        let run = await bench.deliver(.post, on: Route(name: "r", policy: policy))
        #expect(run.words == "dead outcome_unknown")
    }

    @Test("A token that was refused is not tried again after the wait for a better one")
    func refusedToken() async {
        let bench = tokenBench { $0 == 2 ? .answer(500) : .answer(200, [], #"{"access_token":"t\#($0)"}"#) }
        let route = refreshing
        let memory = RouteMemory()
        let first = await bench.deliver(on: route, memory: memory)
        #expect(first.words == "back credentials")
        bench.time.advance(by: .seconds(3_600))
        let second = await bench.deliver(on: route, JobHistory().carried(first), memory: memory)
        #expect(second.words == "succeeded 200 upstream" && second.attempts.count == 1)
        let tokens = bench.transport.sent.filter { $0.upstream.name != "token" }.map { $0[.authorization] }
        #expect(tokens == ["Bearer t1", "Bearer t3"])
    }

    private var refreshing: Route { refreshing(isGivenUp: true) }

    private func refreshing(isGivenUp: Bool) -> Route {
        makeRoute {
            $0.authentication = Authentication(form: .bearer, credential: "key")
            $0.recovery = [rule("fresh", ["401"], .refreshCredentials(maxTimes: 1))]
            if isGivenUp { $0.recovery.append(rule("r", ["any"], .deadLetter)) }
        }
    }

    /// An upstream that takes only the third token, and an endpoint that answers by the number of the request.
    private func tokenBench(
        _ answer: @escaping @Sendable (Int) -> ScriptedTransport.Step,
        refusing refusal: @escaping @Sendable () -> ScriptedTransport.Step = { .answer(401) }
    ) -> Bench {
        let settings = OAuth2Settings(
            grant: .clientCredentials,
            endpoint: Upstream(name: "token", origin: .tcp(host: "login.example", port: 443, isTLS: true)),
            target: "/token",
            clientID: "shop"
        )
        let asked = Mutex(0)
        return Bench([], credentials: [CredentialDefinition(name: "key", kind: .oauth2(settings))]) {
            guard $0.upstream.name == "token" else {
                return $0[.authorization] == "Bearer t3" ? .answer(200) : refusal()
            }
            let number = asked.withLock { count in
                count += 1
                return count
            }
            return answer(number)
        }
    }

    @Test("A relay that is too busy puts the job back at once")
    func overloaded() async {
        let run = await Bench([.fail(.overloaded, .neverSent)]).deliver(on: eager())
        #expect(run.words == "back now" && run.attempts.isEmpty)
    }

    @Test(
        "A stop puts back what may be repeated, and gives up what may have been done",
        arguments: [
            ("GET", .idempotentOrKeyed, false, "back now"),
            ("POST", .idempotentOrKeyed, false, "dead outcome_unknown"),
            ("POST", .idempotentOrKeyed, true, "back now"), ("POST", .any, false, "back now"),
            ("POST", .idempotent, false, "dead outcome_unknown"),
        ] as [(String, RepeatableMethods, Bool, String)]
    )
    func stop(method: String, methods: RepeatableMethods, isKeyed: Bool, words: String) async {
        let bench = Bench([.hold, .answer(200)])
        let route = makeRoute { $0.recovery = [rule("r", ["timeout"], retry(methods: methods))] }
        var fields = HeaderFields()
        if isKeyed { fields.append("Idempotency-Key", "k") }
        let sent = fields
        let task = Task { await bench.deliver(Method(rawValue: method), on: route, fields: sent) }
        await untilIdle()
        task.cancel()
        let run = await task.joined()
        #expect(run.words == words && run.failure?.kind == .cancelled)
        #expect(run.isUncertain == words.hasPrefix("dead"))
        #expect(run.attempts.map { $0.failure?.sent } == [.unknown])
        // It was on the wire, and yet a stop burns no attempt.
        let next = JobHistory().carried(run)
        #expect(next.attempts == 1 && next.spentAttempts == 0)
    }

    @Test("A stop before the first byte leaves nothing behind, whatever the method")
    func stopBefore() async {
        let bench = Bench([.fail(.cancelled, .neverSent)])
        let run = await bench.deliver(.post, on: eager())
        #expect(run.words == "back now" && run.attempts.isEmpty && bench.sink.events.isEmpty)
    }

    @Test("An answer that came while the run was being stopped stands")
    func answerStands() async {
        let bench = Bench([]) { _ in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return .answer(409)
        }
        let route = makeRoute { $0.recovery = [rule("no", ["409"], .deadLetter)] }
        let run = await Task { await bench.deliver(.post, on: route) }.value
        #expect(run.words == "dead rejected" && run.failure?.status == 409)
    }
}
