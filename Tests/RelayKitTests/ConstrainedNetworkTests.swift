import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A constrained network", .timeLimit(.minutes(5)))
struct ConstrainedNetworkTests {
    /// A switch, flipped by hand or after each attempt.
    private final class Condition: AttemptObserver {
        private let flips: Bool
        private let state: Mutex<(isOn: Bool, asked: Int)>

        init(_ isOn: Bool, flips: Bool = false) {
            state = Mutex((isOn, 0))
            self.flips = flips
        }

        var asked: Int { state.withLock { $0.asked } }

        var now: Bool {
            state.withLock { state in
                state.asked += 1
                return state.isOn
            }
        }

        func decided(_ attempt: Attempt, of job: RunningJob) {
            if flips { state.withLock { $0.isOn.toggle() } }
        }
    }

    private func send(
        _ condition: Condition,
        _ steps: [ScriptedTransport.Step],
        options: RequestOptions = RequestOptions(),
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) async throws -> (outcome: PlainOutcome<HTTPResponse>, upstreams: [String], targets: [String]) {
        let time = VirtualTime()
        let transport = ScriptedTransport(steps, time: time)
        var policy = RoutePolicy(upstreams: [
            try Upstream("https://img.example/full", name: "full"),
            try Upstream("https://img.example/low", name: "low", use: .whenConstrained),
            try Upstream("https://mirror.example/", name: "mirror", use: .failoverOnly),
        ])
        change(&policy)
        let service = try RelayService(
            policy,
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            observers: [condition],
            isConstrained: { condition.now }
        )
        var request = PlainRequest<HTTPResponse>(.get, "7.png")
        request.options = options
        let outcome = await service.outcome(of: request)
        let tried = outcome.attempts.filter { $0.failure?.kind != .networkConstrained }
        #expect(transport.sent.map(\.upstream.name) == tried.map(\.upstream))
        return (outcome, outcome.attempts.map(\.upstream), transport.sent.map(\.target))
    }

    @Test(
        "The lighter upstream takes the request exactly while the condition holds, measured by the same success",
        .clauses("UC-13", "UC-21", "UC-23", "UC-24", "UC-25"),
        arguments: [(true, "low", "/low/7.png"), (false, "full", "/full/7.png")],
        [(200, nil), (204, "http_status"), (500, "http_status")] as [(UInt16, String?)]
    )
    func condition(
        place: (isOn: Bool, upstream: String, target: String),
        answer: (status: UInt16, kind: String?)
    ) async throws {
        let sent = try await send(Condition(place.isOn), [.answer(Status(rawValue: answer.status))]) {
            $0.success.statuses = StatusSet(codes: [200])
        }
        #expect(sent.upstreams == [place.upstream] && sent.targets == [place.target])
        #expect(sent.outcome.failure?.kind.rawValue == answer.kind && sent.outcome.attempts[0].number == 1)
        #expect(sent.outcome.source == (answer.kind == nil ? .upstream : nil))
    }

    @Test(
        "Every attempt asks anew where it goes",
        .clauses("UC-21"),
        arguments: [(true, ["low", "full", "low"]), (false, ["full", "low", "full"])]
    )
    func asked(first: Bool, expected: [String]) async throws {
        let condition = Condition(first, flips: true)
        let sent = try await send(condition, [.answer(503), .answer(503), .answer(200)]) {
            $0.recovery = [.backoff()]
        }
        #expect(sent.upstreams == expected && sent.outcome.failure == nil && condition.asked == 3)
    }

    @Test(
        "No failure leads to the lighter upstream",
        .clauses("UC-22"),
        arguments: [.answer(500), .answer(404), .fail(.connectionRefused, .neverSent)]
            as [ScriptedTransport.Step]
    )
    func otherFailures(step: ScriptedTransport.Step) async throws {
        let sent = try await send(Condition(false), [step, step, step, .answer(200)]) {
            $0.recovery = [.backoff(on: [.any], maxAttempts: 3), .failover(to: 2)]
        }
        #expect(sent.upstreams == ["full", "full", "full", "mirror"])
    }

    @Test(
        "From the lighter upstream it is one hop to a mirror, and no way back; without fallback it is none",
        .clauses("UC-21", "UC-24"),
        arguments: [(true, ["low", "mirror", "mirror"]), (false, ["low"])]
    )
    func oneHop(allowsFallback: Bool, expected: [String]) async throws {
        var options = RequestOptions()
        options.allowsFallback = allowsFallback
        options.maxAttempts = allowsFallback ? 10 : 1
        let sent = try await send(
            Condition(true),
            [.answer(502), .answer(502), .answer(502), .answer(200)],
            options: options
        ) { $0.recovery = [.failover(to: 2, on: [502]), .backoff(on: [502], maxAttempts: 2)] }
        #expect(sent.upstreams == expected && sent.outcome.failure?.status == 502)
        #expect(sent.outcome.attempts[0].next == (allowsFallback ? .failover(to: "mirror") : nil))
    }

    @Test("Without a lighter upstream the condition changes nothing", .clauses("UC-25"))
    func noneConfigured() async throws {
        let sent = try await send(Condition(true), [.answer(200)]) { $0.upstreams.remove(at: 1) }
        #expect(sent.upstreams == ["full"])
    }

    @Test(
        "A request is refused, unsent, by its own word or the policy's, whichever sends less",
        .clauses("UC-21", "UC-22"),
        arguments: [
            (.send, .refuse, true), (.refuse, .send, true), (.refuse, .wait, true), (.wait, .refuse, true),
            (.send, .send, false),
        ] as [(ConstrainedUse, ConstrainedUse, Bool)]
    )
    func refused(policy: ConstrainedUse, own: ConstrainedUse, isRefused: Bool) async throws {
        var options = RequestOptions()
        options.constrained = own
        let sent = try await send(Condition(true), [.answer(200)], options: options) {
            $0.upstreams.remove(at: 1)
            $0.constrained = policy
        }
        #expect(sent.outcome.failure?.kind == (isRefused ? .networkConstrained : nil))
        #expect(sent.outcome.failure?.sent == (isRefused ? .neverSent : nil))
        #expect(sent.targets.isEmpty == isRefused)
        let calm = try await send(Condition(false), [.answer(200)], options: options) {
            $0.constrained = policy
        }
        #expect(calm.outcome.failure == nil && calm.targets.count == 1)
    }

    @Test("An answer at hand says more than the network's refusal of another attempt")
    func answerAtHand() async throws {
        let sent = try await send(Condition(false, flips: true), [.answer(500, [], "down")]) {
            $0.upstreams.remove(at: 1)
            $0.constrained = .refuse
            $0.recovery = [.backoff(on: [500])]
        }
        #expect(sent.outcome.attempts.map { $0.failure?.kind } == [.httpStatus, .networkConstrained])
        #expect(sent.outcome.failure?.status == 500 && sent.targets.count == 1)
    }

    @Test(
        "A request waits until the network is not constrained, or for all of its time",
        .clauses("UC-21"),
        arguments: [(2, true), (60, false)]
    )
    func waits(seconds: Int, isSent: Bool) async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport([.answer(200)], time: time)
        let began = time.now()
        let service = try RelayService(
            RoutePolicy(upstreams: [try Upstream("https://img.example/")]),
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            isConstrained: { began.duration(to: time.now()) < .seconds(seconds) }
        )
        let outcome = await service.outcome(of: PlainRequest<HTTPResponse>(.get, "7.png").constrained(.wait))
        #expect(outcome.failure?.kind == (isSent ? nil : .networkConstrained))
        #expect(transport.sent.count == (isSent ? 1 : 0))
        let waited = began.duration(to: time.now())
        #expect(isSent ? waited >= .seconds(2) && waited < .seconds(3) : waited <= .seconds(30))
    }

    @Test(
        "The lighter form keeps key, method and content, and each attempt has the form that fits",
        .clauses("UC-21")
    )
    func light() async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport([.answer(503), .answer(503), .answer(200)], time: time)
        let condition = Condition(true, flips: true)
        var policy = RoutePolicy(upstreams: [try Upstream("https://img.example/base/")])
        policy.recovery = [.backoff(methods: .any)]
        let service = try RelayService(
            policy,
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            observers: [condition],
            isConstrained: { condition.now }
        )
        let light = try LightRequest(
            path: "low/{path}",
            query: ["size": "s m"],
            headers: ["Accept": "image/webp"]
        )
        let request = PlainRequest<HTTPResponse>(
            .put,
            "7.png",
            query: ["size": "full"],
            headers: ["Idempotency-Key": "k", "Accept": "*/*"]
        )
        let outcome = await service.outcome(of: request.constrained(light))
        #expect(outcome.failure == nil)
        let (low, full) = ("/base/low/7.png?size=s%20m", "/base/7.png?size=full")
        #expect(transport.sent.map(\.target) == [low, full, low])
        #expect(transport.sent.map { $0.fields[.accept] } == ["image/webp", "*/*", "image/webp"])
        #expect(transport.sent.allSatisfy { $0.method == .put && $0.fields[.idempotencyKey] == "k" })
    }

    @Test(
        "A lighter form that is another request is refused",
        arguments: [
            ("../x", [:]), ("a/./b", [:]), ("a/%2E%2e/b", [:]), ("a?b", [:]), ("", [:]),
            ("{path}{path}", [:]),
            (nil, ["Authorization": "x"]), (nil, ["idempotency-key": "x"]), (nil, ["Host": "x"]),
            (nil, ["Cookie": "x"]),
        ] as [(String?, [String: String])]
    )
    func anotherRequest(path: String?, headers: [String: String]) {
        #expect(throws: Refusal.self) { try LightRequest(path: path, headers: headers) }
    }
}
