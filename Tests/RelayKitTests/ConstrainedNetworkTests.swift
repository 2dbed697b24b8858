import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A constrained network", .timeLimit(.minutes(5)))
struct ConstrainedNetworkTests {
    /// A switch, flipped by hand or after so many attempts.
    private final class Condition: AttemptObserver {
        private let flips: Bool
        private let isOn: Atomic<Bool>
        private let questions = Atomic<Int>(0)

        init(_ isOn: Bool, flips: Bool = false) {
            self.isOn = Atomic(isOn)
            self.flips = flips
        }

        var asked: Int { questions.load(ordering: .relaxed) }

        var now: Bool {
            questions.add(1, ordering: .relaxed)
            return isOn.load(ordering: .relaxed)
        }

        func decided(_ attempt: Attempt, of job: RunningJob) {
            if flips { isOn.store(!isOn.load(ordering: .relaxed), ordering: .relaxed) }
        }
    }

    private struct Setup {
        let transport: ScriptedTransport
        let service: RelayService

        init(
            _ condition: Condition,
            _ steps: [ScriptedTransport.Step],
            _ change: (inout RoutePolicy) -> Void = { _ in }
        ) throws {
            let time = VirtualTime()
            transport = ScriptedTransport(steps, time: time)
            var policy = RoutePolicy(upstreams: [
                try Upstream("https://img.example/full", name: "full"),
                try Upstream("https://img.example/low", name: "low", use: .whenConstrained),
                try Upstream("https://mirror.example/", name: "mirror", use: .failoverOnly),
            ])
            change(&policy)
            service = try RelayService(
                policy,
                transport: transport,
                time: time,
                entropy: SeededEntropy(),
                observers: [condition],
                isConstrained: { condition.now }
            )
        }

        func send(_ options: RequestOptions = RequestOptions()) async -> (JobOutcome<HTTPResponse>, [String])
        {
            var request = Request<HTTPResponse>(.get, "7.png")
            request.options = options
            let outcome = await service.outcome(of: request)
            #expect(transport.sent.map(\.upstream.name) == outcome.attempts.map(\.upstream))
            return (outcome, outcome.attempts.map(\.upstream))
        }
    }

    @Test(
        "The lighter upstream takes the request exactly while the condition holds, and the outcome says so",
        .clauses("UC-21", "UC-24", "UC-25"),
        arguments: [(true, "low", "/low/7.png"), (false, "full", "/full/7.png")]
    )
    func condition(isOn: Bool, upstream: String, target: String) async throws {
        let setup = try Setup(Condition(isOn), [.answer(200)])
        let (outcome, upstreams) = await setup.send()
        #expect(upstreams == [upstream] && setup.transport.sent[0].target == target)
        #expect(outcome.source == .upstream && outcome.attempts[0].number == 1)
    }

    @Test(
        "Every attempt asks anew where it goes",
        .clauses("UC-21"),
        arguments: [(true, ["low", "full", "low"]), (false, ["full", "low", "full"])]
    )
    func asked(first: Bool, expected: [String]) async throws {
        let condition = Condition(first, flips: true)
        let setup = try Setup(condition, [.answer(503), .answer(503), .answer(200)]) {
            $0.recovery = [.backoff()]
        }
        let (outcome, upstreams) = await setup.send()
        #expect(upstreams == expected && outcome.endedWith == nil && condition.asked == 3)
    }

    @Test(
        "No failure leads to the lighter upstream",
        .clauses("UC-22"),
        arguments: [
            .answer(500), .answer(503), .answer(404), .answer(302), .answer(600),
            .fail(.connectionRefused, .neverSent), .fail(.httpResponseTimeout, .unknown),
            .fail(.dnsError, .neverSent),
        ] as [ScriptedTransport.Step]
    )
    func otherFailures(step: ScriptedTransport.Step) async throws {
        let plain = try Setup(Condition(false), [step])
        #expect(await plain.send().1 == ["full"])
        let retried = try Setup(Condition(false), [step, step, step, .answer(200)]) {
            $0.recovery = [.backoff(on: [.any], maxAttempts: 3), .failover(to: 2)]
        }
        #expect(await retried.send().1 == ["full", "full", "full", "mirror"])
    }

    @Test(
        "Both upstreams are measured by the same success",
        .clauses("UC-13", "UC-23"),
        arguments: [true, false],
        [(200, nil), (204, "http_status"), (404, "http_status")] as [(UInt16, String?)]
    )
    func success(isOn: Bool, answer: (status: UInt16, kind: String?)) async throws {
        let setup = try Setup(Condition(isOn), [.answer(Status(rawValue: answer.status))]) {
            $0.success.statuses = StatusSet(codes: [200])
        }
        let (outcome, upstreams) = await setup.send()
        #expect(outcome.endedWith?.kind.rawValue == answer.kind && upstreams == [isOn ? "low" : "full"])
    }

    @Test("The lighter upstream may fail, and its failure is the caller's", .clauses("UC-23", "UC-24"))
    func lighterFails() async throws {
        let setup = try Setup(Condition(true), [.answer(500)])
        let (outcome, upstreams) = await setup.send()
        #expect(upstreams == ["low"] && outcome.endedWith?.status == 500 && outcome.source == nil)
    }

    @Test("From the lighter upstream it is one hop to a mirror, and no way back", .clauses("UC-24"))
    func oneHop() async throws {
        let setup = try Setup(Condition(true), [.answer(502), .answer(502), .answer(502), .answer(200)]) {
            $0.recovery = [.failover(to: 2, on: [502]), .backoff(on: [502], maxAttempts: 2)]
        }
        let (outcome, upstreams) = await setup.send()
        #expect(upstreams == ["low", "mirror", "mirror"] && outcome.endedWith?.status == 502)
        #expect(outcome.attempts[0].next == .failover(to: "mirror"))
    }

    @Test(
        "A request that allows no fallback still goes the lighter way: it is no recovery",
        .clauses("UC-21")
    )
    func withoutFallback() async throws {
        var options = RequestOptions()
        options.allowsFallback = false
        let setup = try Setup(Condition(true), [.answer(502), .answer(200)]) {
            $0.recovery = [.failover(to: 2, on: [502])]
        }
        let (outcome, upstreams) = await setup.send(options)
        #expect(upstreams == ["low"] && outcome.endedWith?.status == 502)
    }

    @Test("Without a lighter upstream the condition changes nothing", .clauses("UC-25"))
    func noneConfigured() async throws {
        let condition = Condition(true)
        let setup = try Setup(condition, [.answer(200)]) { $0.upstreams.remove(at: 1) }
        #expect(await setup.send().1 == ["full"])
    }
}
