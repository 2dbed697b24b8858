import RelayKit
import RelayTestSupport
import Testing

@Suite("A transport's failures as the caller sees them", .runQueue, .timeLimit(.minutes(5)))
struct TransportFailureTests {
    private static let request = Request<HTTPResponse>(.post, "orders", content: .text("two"))

    @Test(
        "Kind and verdict reach the caller as they are, without an answer and with the request",
        .clauses("AX-09", "G1-03", "T-80", "T-84", "T-85", "T-86", "T-89", "T-127"),
        arguments: [
            // Offline.
            (.connectionRefused, .neverSent), (.destinationUnavailable, .neverSent), (.dnsError, .neverSent),
            (.tlsCertificateError, .neverSent), (.destinationIPProhibited, .neverSent),
            // Too late.
            (.connectionTimeout, .neverSent), (.dnsTimeout, .neverSent), (.httpResponseTimeout, .unknown),
            (.connectionReadTimeout, .unknown), (.connectionWriteTimeout, .unknown),
            // Neither answer nor word why.
            (.httpResponseIncomplete, .unknown), (.connectionTerminated, .unknown),
            // A failure that only another transport knows.
            ("quic_version_unknown", .unknown), (.cancelled, .unknown),
        ] as [(FailureKind, Sent)]
    )
    func kinds(kind: FailureKind, sent: Sent) async throws {
        let bench = try ServiceBench([.fail(kind, sent)])
        let outcome = await bench.service.outcome(of: Self.request)
        let failure = try #require(outcome.endedWith)
        #expect(failure.kind == kind && failure.sent == sent)
        #expect(failure.status == nil && failure.response == nil && failure.request?.target == "orders")
        #expect(outcome.source == nil && outcome.attempts.count == 1)
    }

    @Test(
        "A connection that failed and a wait that was too long are told apart by their groups",
        .clauses("T-84", "T-85", "T-89"),
        arguments: [
            (.connectionRefused, true, false), (.dnsError, true, false), (.connectionTimeout, true, true),
            (.httpResponseTimeout, false, true), (.tlsAlertReceived, false, false),
            ("quic_version_unknown", false, false),
        ] as [(FailureKind, Bool, Bool)]
    )
    func groups(kind: FailureKind, isConnection: Bool, isTimeout: Bool) async throws {
        for (token, matches) in [(FailureMatcher.Token.connection, isConnection), (.timeout, isTimeout)] {
            let bench = try ServiceBench([.fail(kind, .neverSent), .answer(200)]) {
                $0.recovery = [.backoff(on: [token])]
            }
            let outcome = await bench.service.outcome(of: Self.request)
            #expect((outcome.endedWith == nil) == matches && bench.transport.sent.count == (matches ? 2 : 1))
        }
    }

    @Test(
        "An answer of every class, with and without content, is what it is",
        .clauses("G1-05", "T-81", "T-82", "T-83", "UC-14"),
        arguments: [
            (200, nil), (204, nil), (300, .redirection), (400, .clientError), (500, .serverError),
        ] as [(UInt16, Status.Class?)],
        ["", "content"]
    )
    func classes(answer: (status: UInt16, class: Status.Class?), body: String) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: answer.status), [("X-Why", "so")], body)])
        let outcome = await bench.service.outcome(of: Self.request)
        let response = try #require(outcome.gave ?? outcome.endedWith?.response)
        #expect(response.words == body && response.status.rawValue == answer.status)
        #expect(response.fields.pairs.map(\.value) == ["so"])
        #expect(outcome.endedWith?.status?.class == answer.class)
        #expect(outcome.endedWith.map(\.kind) == answer.class.map { _ in .httpStatus })
    }

    @Test(
        "A status that no final answer has is no answer",
        .clauses("G1-04", "G3-03"),
        arguments: [100, 199, 600, 999]
    )
    func strangeStatus(status: UInt16) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: status))])
        #expect(await bench.service.outcome(of: Self.request).endedWith?.kind == .httpProtocolError)
    }

    @Test("Cancelling the caller's task closes the exchange", .clauses("T-86", "T-87", "N-11"))
    func cancelled() async throws {
        let bench = try StreamBench()
        let job = Task { [service = bench.service] in await service.outcome(of: Self.request) }
        await bench.gate.until { $0.inFlight == ["orders"] }
        job.cancel()
        await bench.gate.until { $0.cancelled == ["orders"] }
        let outcome = await job.joined()
        #expect(outcome.endedWith?.kind == .cancelled && outcome.endedWith?.sent == .unknown)
        #expect(bench.service.inFlight == 0 && bench.gate.view.sent.count == 1)
    }

    @Test(
        "A service that nobody holds any more still ends what is under way",
        .clauses("T-88", "X-13"),
        arguments: [200, 500]
    )
    func teardown(status: UInt16) async throws {
        let endings = Endings()
        var bench: StreamBench? = try StreamBench(observers: [endings])
        let gate = try #require(bench?.gate)
        weak let service = bench?.service
        let job = Task { [weak service] in await service?.outcome(of: Self.request) }
        await gate.until { $0.inFlight == ["orders"] }
        bench = nil
        gate.answer("orders", Status(rawValue: status))
        let outcome = try #require(await job.joined())
        #expect((outcome.gave?.status ?? outcome.endedWith?.status)?.rawValue == status)
        #expect(endings.jobs.count == 1)
        #expect(service == nil)
    }

    @Test(
        "A request is a value: sent twice it is two exchanges, cancelled before it is none",
        .clauses("T-107")
    )
    func twice() async throws {
        let bench = try ServiceBench([.answer(200, [], "one"), .answer(200, [], "two"), .answer(200)])
        #expect(try await bench.service.execute(Self.request).words == "one")
        #expect(try await bench.service.execute(Self.request).words == "two")
        let third = Task { [service = bench.service] in
            await untilCancelled()
            return await service.outcome(of: Self.request)
        }
        third.cancel()
        let outcome = await third.value
        #expect(outcome.gave == nil && outcome.endedWith?.kind == .cancelled)
        #expect(outcome.endedWith?.sent == .neverSent && bench.transport.sent.count == 2)
    }

    @Test("A preparation that heeds its cancellation at the deadline is late, not cancelled")
    func latePreparation() async throws {
        let time = VirtualTime(.manual)
        var policy = RoutePolicy(upstreams: [try Upstream("https://one.example/")])
        policy.timeouts.attempt = .seconds(3)
        policy.timeouts.total = .seconds(3)
        let transport = ScriptedTransport([.answer(200)], time: time)
        let service = try RelayService(policy, transport: transport, time: time, entropy: SeededEntropy())
        var request = Self.request
        request.preparation = [
            Prepare(.job) { request, _ in
                try await time.expire(at: Instant(nanoseconds: .max))
                return request
            }
        ]
        let job = Task { [request] in await service.outcome(of: request) }
        await untilIdle()
        time.advance(by: .seconds(3))
        let failure = await job.joined().endedWith
        #expect(failure?.kind == .preparation && failure?.sent == .neverSent && transport.sent.isEmpty)
    }
}
