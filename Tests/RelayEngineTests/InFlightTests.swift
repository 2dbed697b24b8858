import RelayBase
import RelayCore
import RelayEngine
import RelayRoute
import RelayServer
import RelayTestSupport
import Testing

/// An engine with one route and everything behind it under the test's control.
struct EngineBench: Sendable {
    let time = VirtualTime(.manual)
    let transport: ScriptedTransport
    let sink = RecordingSink()
    let engine: Engine
    let relay: Relay

    init(
        _ change: (inout RoutePolicy) -> Void = { _ in },
        answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step
    ) {
        transport = ScriptedTransport(time: time, answer: answer)
        engine = Engine(snapshot: EngineBench.snapshot(change), time: time, entropy: SeededEntropy())
        let announcer = Listeners(engine, feed: EventFeed()).announcer(and: [sink])
        relay = Relay(
            ports: RelayPorts(
                transport: transport,
                time: time,
                entropy: SeededEntropy(),
                sink: announcer,
                start: { work in Task { await work() } }
            )
        )
    }

    static func snapshot(
        previous: Snapshot? = nil,
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) -> Snapshot {
        var policy = RoutePolicy(upstreams: [
            Upstream(name: "one", origin: .unix(path: "/one")),
            Upstream(
                name: "two",
                origin: .unix(path: "/two"),
                use: .failoverOnly,
                cooldown: .seconds(30)
            ),
        ])
        change(&policy)
        return Snapshot(
            routes: [Route(name: "up", policy: policy)],
            vault: CredentialVault([], secrets: [:]),
            settings: Snapshot.Settings(),
            previous: previous
        )
    }

    /// How the route is doing now.
    var health: RouteHealth { state.health(at: time.wallMilliseconds()) }

    /// One request through gate, route and relay, its place given back.
    func run(
        _ target: String = "x",
        fields: HeaderFields = HeaderFields(),
        method: Method = .get,
        body: Body = .empty
    ) async throws -> Outcome {
        let admission = try engine.admit(
            route: "up",
            target: target,
            method: method,
            terms: RequestTerms(fields),
            length: 0,
            client: nil
        )
        return await engine.run(admission, body: body, relay: relay)
    }

    var state: RouteState {
        guard let entry = engine.snapshot.routes["up"] else { preconditionFailure("the route is gone") }
        return entry.state
    }
}

@Suite("Requests under way", .runQueue, .timeLimit(.minutes(5)))
struct InFlightTests {
    /// An engine with one permit, whose upstream answers nothing until it is open.
    private func narrow(_ isOpen: Flag) -> EngineBench {
        EngineBench(
            { $0.concurrency.maxRequests = 1 },
            answer: { _ in isOpen.isSet ? .answer(200) : .hold }
        )
    }

    @Test(
        "A request that has waited for a permit says how long, whatever came of it, and one that has not does not"
    )
    func permitWait() async throws {
        let isOpen = Flag()
        let bench = narrow(isOpen)
        let held = Task { try await bench.run("held").report }
        await untilIdle()
        var fields = HeaderFields()
        fields.append("Waystation-Timeout", "7s")
        let impatient = fields
        let late = Task { try await bench.run("late", fields: impatient).report }
        await untilIdle()
        bench.time.advance(by: .seconds(4))
        let early = Task { try await bench.run("early").report }
        await untilIdle()
        bench.time.advance(by: .seconds(3))
        await untilIdle()
        isOpen.set()
        bench.transport.release()
        let (first, missed, passed) = (try await held.value, try await late.value, try await early.value)
        #expect(first.status == 200 && first.permitWait == nil && first.permitText == nil)
        #expect(missed.failure?.kind == .deadlineExceeded && missed.permitWait == .seconds(7))
        #expect(passed.status == 200 && passed.permitWait == .seconds(3))
        #expect(passed.permitText == "waited 3s for a permit of the route (concurrency.max_requests)")
        #expect(try await bench.run().report.permitWait == nil)
    }

    @Test(
        "A request waits for a permit until its deadline, however often it looks meanwhile",
        arguments: [5, 12, 25, 29]
    )
    func longWait(seconds: Int) async throws {
        let isOpen = Flag()
        let bench = narrow(isOpen)
        let held = Task { try await bench.run("held").report }
        await untilIdle()
        let late = Task { try await bench.run("late").report }
        await untilIdle()
        for _ in 0..<seconds {
            bench.time.advance(by: .seconds(1))
            await untilIdle()
        }
        isOpen.set()
        bench.transport.release()
        #expect(try await held.value.status == 200)
        let report = try await late.value
        #expect(report.status == 200 && report.permitWait == .seconds(seconds))
    }

    @Test(
        "A caller that finds no place where the upstream has requests wait hears what the upstream said",
        arguments: [false, true]
    )
    func heldUp(isHeld: Bool) async throws {
        let bench = EngineBench(
            {
                $0.concurrency.maxRequests = 1
                $0.concurrency.maxPendingRequests = 0
                $0.traffic = TrafficSettings()
            },
            answer: { request in
                request.target == "/said"
                    ? .answer(429, isHeld ? [("Retry-After", "20")] : [("X", "20")]) : .hold
            }
        )
        _ = try await bench.run("said")
        let first = Task { try await bench.run("other") }
        await untilIdle()
        let failure = try #require(try await bench.run("said").failure)
        #expect(failure.kind == (isHeld ? .rateLimited : .overloaded))
        if isHeld { #expect(failure.detail.contains("has asked for patience with GET /said")) }
        first.cancel()
        _ = try await first.value
    }

    @Test(
        "Requests are counted exactly, with the upstream or in the queue, and no longer when they are cancelled",
        .clauses("T-30")
    )
    func cancelled() async throws {
        let bench = EngineBench(
            {
                $0.concurrency.maxRequests = 20
                $0.concurrency.maxPendingRequests = 20
            },
            answer: { _ in .hold }
        )
        let jobs = (0..<40).map { _ in Task { try await bench.run() } }
        await untilIdle()
        #expect(bench.engine.inFlight == 40 && bench.state.load == (20, 20))
        for job in jobs { job.cancel() }
        for job in jobs { _ = try await job.value }
        #expect(bench.engine.inFlight == 0 && bench.state.load == (0, 0))
        #expect(bench.state.figures.requests == 40)
    }

    @Test(
        "Requests are under way no longer, whatever the upstream did",
        .clauses("T-30", "X-09"),
        arguments: [
            .fail(.connectionRefused, .neverSent), .fail(.httpResponseTimeout, .unknown), .answer(500),
            .answer(200),
        ]
            as [ScriptedTransport.Step]
    )
    func ended(step: ScriptedTransport.Step) async throws {
        let bench = EngineBench { _ in step }
        for _ in 0..<5 { _ = try await bench.run() }
        #expect(bench.engine.inFlight == 0 && bench.state.load == (0, 0))
    }

    @Test("One for which there is no room, or no place in time, is counted while it waits and not afterwards")
    func refused() async throws {
        let bench = EngineBench(
            {
                $0.concurrency.maxRequests = 1
                $0.concurrency.maxPendingRequests = 1
            },
            answer: { _ in .hold }
        )
        let first = Task { try await bench.run() }
        await untilIdle()
        let second = Task { try await bench.run() }
        await untilIdle()
        let third = try await bench.run()
        let failure = try #require(third.failure)
        #expect(failure.kind == .overloaded && bench.engine.inFlight == 2)
        await untilIdle()
        bench.time.advance(by: .seconds(30))
        let late = try #require(await second.value.failure)
        #expect(late.kind == .deadlineExceeded && bench.engine.inFlight == 1)
        first.cancel()
        _ = try await first.value
        #expect(bench.engine.inFlight == 0 && bench.state.load == (0, 0))
    }

    @Test("A reload in between leaves the count as it is")
    func reloaded() async throws {
        let bench = EngineBench { _ in .hold }
        let job = Task { try await bench.run() }
        await untilIdle()
        bench.engine.install(EngineBench.snapshot(previous: bench.engine.snapshot) { $0.maxAttempts = 2 })
        #expect(bench.engine.inFlight == 1 && bench.state.load.inFlight == 1)
        job.cancel()
        _ = try await job.value
        #expect(bench.engine.inFlight == 0 && bench.state.load.inFlight == 0)
    }
}
