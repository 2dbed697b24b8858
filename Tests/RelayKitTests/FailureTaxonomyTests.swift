import RelayKit
import RelayTestSupport
import Testing

@Suite("The facts about a failure that a caller is told", .timeLimit(.minutes(5)))
struct FailureTaxonomyTests {
    private static let request = PlainRequest<HTTPResponse>(.post, "orders", content: .text("two"))

    @Test(
        "Only 200 to 299 is a success; every other status is a failure that keeps status, class, answer and request",
        .clauses(
            "G1-02",
            "G1-04",
            "G1-05",
            "G2-01",
            "G3-03",
            "G3-04",
            "N-12",
            "T-03",
            "T-07",
            "T-81",
            "T-82",
            "T-83",
            "UC-14"
        ),
        arguments: [
            (200, nil), (204, nil), (299, nil), (300, .redirection), (304, .redirection), (399, .redirection),
            (400, .clientError), (401, .clientError), (404, .clientError), (499, .clientError),
            (500, .serverError), (503, .serverError), (599, .serverError),
        ] as [(UInt16, Status.Class?)],
        ["", "content"]
    )
    func statuses(answer: (code: UInt16, class: Status.Class?), body: String) async throws {
        let challenge = [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]
        let bench = try ServiceBench([.answer(Status(rawValue: answer.code), challenge, body)])
        let outcome = await bench.run(Self.request)
        let response = try #require(outcome.value ?? outcome.failure?.response)
        #expect(response.text == body && response.status.rawValue == answer.code)
        #expect(response.fields.pairs.map(\.value) == ["Bearer error=\"invalid_token\""])
        #expect((outcome.failure == nil) == (answer.class == nil) && bench.transport.sent.count == 1)
        guard let failure = outcome.failure else { return }
        #expect(failure.kind == .httpStatus && failure.status?.class == answer.class)
        #expect(failure.status?.rawValue == answer.code && failure.request?.target == "orders")
        #expect(failure.sent == (answer.class == .clientError ? .refused : .answered))
    }

    @Test(
        "A status that no final answer has is a fault of the protocol, of no class",
        .clauses("G1-04", "G3-03"),
        arguments: [100, 199, 600, 999] as [UInt16]
    )
    func strangeStatuses(code: UInt16) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: code), [], "body")])
        let failure = try #require(await bench.failure(of: Self.request))
        #expect(failure.kind == .httpProtocolError && failure.status == nil)
    }

    @Test(
        "Kind and verdict reach the caller as they are, without an answer and with the request",
        .clauses(
            "AX-01",
            "AX-09",
            "G1-03",
            "G1-04",
            "G3-02",
            "G3-04",
            "T-80",
            "T-84",
            "T-85",
            "T-86",
            "T-89",
            "T-127"
        ),
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
    func transport(kind: FailureKind, sent: Sent) async throws {
        let bench = try ServiceBench([.fail(kind, sent)])
        let outcome = await bench.run(Self.request)
        let failure = try #require(outcome.failure)
        #expect(failure.kind == kind && failure.sent == sent)
        #expect(failure.status == nil && failure.response == nil && failure.request?.target == "orders")
        #expect(outcome.source == nil && outcome.attempts.count == 1)
    }

    @Test(
        "Whatever a transform or a map throws, the caller finds it in a decoding failure",
        .clauses("G1-06", "G3-05", "T-49"),
        arguments: [false, true]
    )
    func thrown(isMap: Bool) async throws {
        let bench = try ServiceBench([.answer(200)])
        let request =
            isMap
            ? Request.plain().map { _ -> Int in throw Problem(code: "burnt") }
            : PlainRequest<Int>(HTTPRequest(method: .get, target: "x")) { _ in throw Problem(code: "burnt") }
        let failure = try #require(await bench.failure(of: request))
        #expect(failure.kind == .decoding && failure.underlying as? Problem == Problem(code: "burnt"))
    }

    @Test(
        "The policy says what a success is, the transport only carries it",
        .clauses("G1-01", "G1-05", "UC-13")
    )
    func layers() async throws {
        let listed = try ServiceBench([.answer(404, [], "none yet"), .answer(204)]) {
            $0.success.statuses = StatusSet(codes: [404])
        }
        #expect(try await listed.service.execute(.plain()).text == "none yet")
        #expect(await listed.failure(of: .plain())?.status == 204)
        let strict = try ServiceBench([.answer(200)]) { $0.response.empty = .error }
        let failure = try #require(await strict.failure(of: .plain()))
        #expect(failure.kind == .emptyResponse && failure.status == 200)
    }

    @Test(
        "A service that nobody holds any more still ends what is under way",
        .closedRunQueue,
        .clauses("T-88", "X-13"),
        arguments: [200, 500]
    )
    func teardown(status: UInt16) async throws {
        let endings = Endings()
        var bench: StreamBench? = try StreamBench(observers: [endings])
        let gate = try #require(bench?.gate)
        weak let service = bench?.service
        let job = Task { [weak service] in await service?.outcome(of: Self.request) }
        await untilIdle()
        bench = nil
        gate.answer("orders", Status(rawValue: status))
        let outcome = try #require(await job.joined())
        #expect((outcome.value?.status ?? outcome.failure?.status)?.rawValue == status)
        #expect(endings.jobs.count == 1)
        #expect(service == nil)
    }

    @Test(
        "A request is a value: sent twice it is two exchanges, cancelled before it is none",
        .closedRunQueue,
        .clauses("T-107")
    )
    func twice() async throws {
        let bench = try ServiceBench([.answer(200, [], "one"), .answer(200, [], "two"), .answer(200)])
        #expect(try await bench.service.execute(Self.request).text == "one")
        #expect(try await bench.service.execute(Self.request).text == "two")
        let third = Task {
            await untilCancelled()
            return await bench.run(Self.request)
        }
        third.cancel()
        let outcome = await third.value
        #expect(outcome.value == nil && outcome.failure?.kind == .cancelled)
        #expect(outcome.failure?.sent == .neverSent && bench.transport.sent.count == 2)
    }
}
