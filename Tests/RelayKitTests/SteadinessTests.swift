import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("The rules that hold for a job through all its attempts", .timeLimit(.minutes(5)))
struct SteadinessTests {
    private func value(_ request: OutboundRequest, _ name: String) -> [String] {
        FieldName(name).map { request.fields.values($0) } ?? []
    }

    @Test(
        "Waits grow from the first, by milliseconds, and stay at the largest",
        .clauses("X-03"),
        arguments: [
            (1, [100]), (4, [100, 200, 400, 800]), (9, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]),
        ]
            as [(Int, [Int64])]
    )
    func exponential(retries: Int, milliseconds: [Int64]) async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                $0.recovery = [
                    .backoff(
                        maxAttempts: retries + 1,
                        Backoff(
                            schedule: .exponential(
                                base: .milliseconds(100),
                                multiplier: 2,
                                maximum: .seconds(5)
                            ),
                            jitter: .none
                        )
                    )
                ]
            },
            answer: { _ in .answer(503) }
        )
        _ = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>)
        #expect(bench.time.waits == milliseconds.map { .milliseconds($0) })
    }

    @Test(
        "At the largest wait jobs do not come together again, and no wait is drawn twice",
        .clauses("X-04", "X-17")
    )
    func jitter() async throws {
        let bench = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.timeouts.total = .seconds(100_000)
                $0.maxAttempts = 50
                $0.recovery = [
                    .backoff(
                        maxAttempts: 50,
                        Backoff(
                            schedule: .exponential(base: .seconds(8), multiplier: 9, maximum: .seconds(8))
                        )
                    )
                ]
            },
            answer: { _ in .answer(503) }
        )
        for _ in 0..<2 { _ = await bench.service.outcome(of: Request(.get, "x") as Request<HTTPResponse>) }
        let waits = bench.time.waits
        #expect(waits.count == 98 && Set(waits).count == 98)
        #expect(waits.allSatisfy { $0 >= .zero && $0 < .seconds(8) })
        #expect(waits.contains { $0 < .seconds(2) } && waits.contains { $0 > .seconds(6) })
    }

    @Test(
        "A media type the caller gives is the only one, whatever its name's case",
        .clauses("X-05"),
        arguments: ["Content-Type", "content-type", "CONTENT-TYPE"]
    )
    func mediaType(name: String) async throws {
        let bench = try ServiceBench([.answer(200)])
        var request: Request<HTTPResponse> = Request(.post, "x", content: .text("a"))
        _ = request.http.fields.set(name, "text/own")
        _ = try await bench.service.execute(request.usingContent(.text("b")))
        #expect(value(bench.transport.sent[0], "content-type") == ["text/own"])
    }

    @Test("A request that is derived from another carries all its settings", .clauses("N-15", "X-06"))
    func derived() async throws {
        struct Odd: Error {}
        let seen = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { what in seen.withLock { $0.append(what) } }
        var plain: Request<HTTPResponse> = Request(.post, "x")
        plain.options.maxAttempts = 3
        plain.options.isRepeatable = true
        plain.options.timeout = .seconds(20)
        plain.preparation = [
            Prepare(.attempt) { request, _ in
                note("prepare")
                return request
            }
        ]
        plain.quickRecovery = { failure in
            note("quick")
            return failure.status == 404 ? HTTPResponse(status: 204) : nil
        }
        plain.successValidator = { _ in note("validate") }
        plain.errorDocument = ErrorDocument { response -> Odd? in response.status == 203 ? Odd() : nil }
        plain.classify = { failure in
            note("classify")
            return failure
        }
        let request = plain.map { Int($0.status.rawValue) }.map { "\($0)" }.throwing { $0 }
            .addingHeaders(["X-A": "1"]).map { $0 + "!" }
        let bench = try ServiceBench([.fail(.httpResponseTimeout, .unknown), .answer(203), .answer(200)]) {
            $0.recovery = [.backoff(on: [.any], maxAttempts: 9)]
        }
        #expect(try await bench.service.execute(request) == "200!")
        let attempt = ["prepare", "quick", "classify"]
        #expect(seen.withLock { $0 } == attempt + attempt + ["prepare", "validate"])
        #expect(value(bench.transport.sent[2], "x-a") == ["1"])
        let quick = try ServiceBench([.answer(404)])
        #expect(try await quick.service.execute(request) == "204!")
        let spent = try ServiceBench(
            [],
            policy: { $0.recovery = [.backoff(on: [.any], maxAttempts: 9)] },
            answer: {
                _ in
                .answer(500)
            }
        )
        _ = await spent.service.outcome(of: request)
        #expect(spent.transport.sent.count == 3)
        #expect(spent.transport.sent[0].deadline == Instant(nanoseconds: 10_000_000_000))
    }

    @Test(
        "Preparation begins from the unprepared request each time: a key stays, a count is fresh, nothing piles up",
        .clauses("N-16", "X-10", "G3-20")
    )
    func preparation() async throws {
        let bench = try ServiceBench(
            [.answer(503), .answer(503), .answer(200)],
            policy: { $0.recovery = [.backoff()] },
            preparation: [
                Prepare(.job) { request, context in
                    var request = request
                    request.fields.append("Idempotency-Key", context.job)
                    return request
                },
                Prepare(.attempt) { request, context in
                    var request = request
                    request.fields.append("X-Attempt", "\(context.attempt)")
                    return request
                },
            ]
        )
        let outcome = await bench.service.outcome(of: Request(.post, "x") as Request<HTTPResponse>)
        let sent = bench.transport.sent
        #expect(sent.map { value($0, "x-attempt") } == [["1"], ["2"], ["3"]])
        #expect(sent.map { value($0, "idempotency-key") } == Array(repeating: [outcome.id], count: 3))
    }

    @Test(
        "A 401 with any challenge is an answer like any other",
        .clauses("N-12"),
        arguments: [
            "Basic realm=\"x\"", "Bearer error=\"invalid_token\"", "Digest nonce=1", "Negotiate", "", "?",
        ]
    )
    func challenge(challenge: String) async throws {
        let bench = try ServiceBench([.answer(401, [("WWW-Authenticate", challenge)], "who?")])
        let failure = await #expect(throws: Failure.self) {
            try await bench.service.execute(Request(.get, "x") as Request<HTTPResponse>)
        }
        #expect(failure?.kind == .httpStatus && failure?.status == 401)
        #expect(failure?.response?.bytes == Array("who?".utf8) && bench.transport.sent.count == 1)
        #expect(failure?.response?.fields.pairs.map(\.value) == [challenge])
    }

    @Test(
        "A POST is repeated after a refused connection, and after bytes were sent only where that is allowed",
        .clauses("N-09", "UC-15"),
        arguments: [
            (.neverSent, false, false, 2), (.unknown, false, false, 1), (.unknown, true, false, 2),
            (.unknown, false, true, 2),
        ]
            as [(Sent, Bool, Bool, Int)]
    )
    func posts(sent: Sent, isRepeatable: Bool, anyMethod: Bool, sends: Int) async throws {
        let bench = try ServiceBench([.fail(.connectionRefused, sent), .answer(200)]) {
            $0.recovery = [.backoff(methods: anyMethod ? .any : .idempotentOrKeyed)]
        }
        var request: Request<HTTPResponse> = Request(.post, "x", content: .text("pay"))
        request.options.isRepeatable = isRepeatable
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == sends && (outcome.source == .upstream) == (sends == 2))
    }

    @Test(
        "An answer is decoded once, and nobody looks for an error document where none is described",
        .clauses("X-18")
    )
    func decodedOnce() async throws {
        struct Odd: Error {}
        let reads = Mutex((documents: 0, values: 0))
        var request = Request<Int>(HTTPRequest(method: .get, target: "x")) { success in
            reads.withLock { $0.values += 1 }
            return success.response.bytes.count
        }
        let bench = try ServiceBench([.answer(200, [], "abc"), .answer(200, [], "abcd")])
        #expect(try await bench.service.execute(request) == 3)
        #expect(reads.withLock { $0 } == (0, 1))
        request.errorDocument = ErrorDocument { _ -> Odd? in
            reads.withLock { $0.documents += 1 }
            return nil
        }
        #expect(try await bench.service.execute(request) == 4)
        #expect(reads.withLock { $0 } == (1, 2))
    }
}
