import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A program's code does not decide how far a request got", .timeLimit(.minutes(5)))
struct ForgedVerdictTests {
    private static let lie = Failure("quota", sent: .neverSent, "as if nothing had been sent")

    private func sends(
        _ steps: [ScriptedTransport.Step],
        _ request: Request<HTTPResponse>,
        methods: RepeatableMethods = .idempotentOrKeyed
    ) async throws -> Int {
        let bench = try ServiceBench(steps) {
            $0.recovery = [.backoff(on: [.any], maxAttempts: 50, methods: methods)]
            $0.maxAttempts = 2
        }
        _ = await bench.service.outcome(of: request)
        return bench.transport.sent.count
    }

    @Test("A failure a transform or an error document makes of an answer counts as answered")
    func answered() async throws {
        let answers = Array(repeating: ScriptedTransport.Step.answer(200), count: 60)
        let transforming = Request<HTTPResponse>(HTTPRequest(method: .post, target: "x")) { _ in
            throw Self.lie
        }
        // Had it counted as never sent, it would cost no attempt of the job.
        for (methods, count) in [(RepeatableMethods.any, 2), (.idempotentOrKeyed, 1)] {
            #expect(try await sends(answers, transforming, methods: methods) == count)
        }
        var documented = Request<HTTPResponse>(.post, "x")
        documented.errorDocument = ErrorDocument { _ in Self.lie }
        #expect(try await sends(answers, documented, methods: .any) == 2)
        var validated = Request<HTTPResponse>(.post, "x")
        validated.successValidator = { _ in throw Self.lie }
        #expect(try await sends(answers, validated, methods: .any) == 2)
    }

    @Test("A POST whose outcome is unknown is not sent again because its failure was given another name")
    func renamed() async throws {
        var request = Request<HTTPResponse>(.post, "x")
        request.classify = { Failure("mine", sent: .neverSent, $0.detail) }
        #expect(try await sends([.fail(.connectionReadTimeout, .unknown), .answer(200)], request) == 1)
    }

    @Test("A failed preparation stays one, whatever it is called")
    func unprepared() async throws {
        struct Broken: Error {}
        let runs = Mutex(0)
        var request = Request<HTTPResponse>(.get, "x")
        request.preparation = [
            Prepare(.attempt) { _, _ in
                runs.withLock { $0 += 1 }
                throw Broken()
            }
        ]
        request.classify = { failure in
            var failure = failure
            failure.kind = "mine"
            return failure
        }
        #expect(try await sends([.answer(200)], request) == 0 && runs.withLock { $0 } == 1)
    }

    @Test("A step that makes a POST of a GET makes the attempt one that may not be repeated")
    func changedMethod() async throws {
        var request = Request<HTTPResponse>(.get, "x")
        request.preparation = [
            Prepare(.attempt) { request, _ in
                var request = request
                request.method = .post
                return request
            }
        ]
        #expect(try await sends([.fail(.connectionReadTimeout, .unknown), .answer(200)], request) == 1)
    }

    @Test("A step that gives each attempt a key of its own ends the job instead of sending it twice")
    func changedKey() async throws {
        var request = Request<HTTPResponse>(.post, "x", headers: ["Idempotency-Key": "a"])
        request.preparation = [
            Prepare(.attempt) { request, context in
                var request = request
                request.fields.set("Idempotency-Key", "k\(context.attempt)")
                return request
            }
        ]
        let steps: [ScriptedTransport.Step] = [.fail(.connectionReadTimeout, .unknown), .answer(200)]
        let bench = try ServiceBench(steps) { $0.recovery = [.backoff(on: [.any])] }
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == 1 && outcome.endedWith?.kind == .preparation)
    }

    @Test("A strategy that gives the request another key repeats nothing whose outcome is unknown")
    func strategyChangesKey() async throws {
        let bench = try ServiceBench([.fail(.connectionReadTimeout, .unknown), .answer(200)]) {
            $0.recovery = [
                .strategy(
                    Advice { _, request, _ in
                        var request = request
                        request.fields.set("Idempotency-Key", "other")
                        return .retry(request, after: .zero)
                    }
                )
            ]
        }
        let request = Request<HTTPResponse>(.post, "x", headers: ["Idempotency-Key": "a"])
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.count == 1)
        #expect(outcome.attempts[0].heldBack.map(\.reason) == [.outcomeUnknown])
    }

    @Test("A Retry-After counts on every answer, also on a success that was found to be none")
    func retryAfter() async throws {
        let bench = try ServiceBench([.answer(200, [("Retry-After", "10")]), .answer(200)]) {
            $0.recovery = [.backoff(on: [.any], Backoff(schedule: .constant(.seconds(1)), jitter: .none))]
        }
        var request = Request<HTTPResponse>(.get, "x")
        request.successValidator = { success in
            if success.response.fields.contains(.retryAfter) { throw Self.lie }
        }
        _ = await bench.service.outcome(of: request)
        #expect(bench.time.waits == [.seconds(10)])
    }

    @Test("Nothing is sent when the job has no time at all")
    func noTime() async throws {
        var request = Request<HTTPResponse>(.post, "x")
        request.options.timeout = .zero
        let bench = try ServiceBench([.answer(200)])
        let outcome = await bench.service.outcome(of: request)
        #expect(bench.transport.sent.isEmpty && outcome.endedWith?.kind == .deadlineExceeded)
    }

    @Test("A job whose last attempt was never sent tells what became of the one before it")
    func furthest() async throws {
        let steps: [ScriptedTransport.Step] = [
            .fail(.connectionReadTimeout, .unknown), .fail(.connectionRefused, .neverSent),
        ]
        let bench = try ServiceBench(steps) {
            $0.recovery = [.backoff(on: [.any], maxAttempts: 2, methods: .any)]
        }
        let outcome = await bench.service.outcome(of: Request<HTTPResponse>(.post, "x"))
        #expect(outcome.endedWith?.kind == .connectionRefused && outcome.endedWith?.sent == .unknown)
    }

    @Test("A credential whose fetch needs the credential says so at once")
    func recursion() async throws {
        let box = Mutex<RelayService?>(nil)
        var inner: Failure?
        let found = Mutex<Failure?>(nil)
        let bench = try ServiceBench(
            [.answer(200)],
            policy: { $0.authentication = Authentication(form: .bearer, credential: "own") },
            mode: .manual,
            credentials: [
                CredentialDefinition("own") {
                    let service = box.withLock { $0 }
                    let outcome = await service?.outcome(of: Request<HTTPResponse>(.get, "token"))
                    found.withLock { $0 = outcome?.endedWith }
                    return AccessToken("t")
                }
            ]
        )
        box.withLock { $0 = bench.service }
        let outcome = await bench.service.outcome(of: Request<HTTPResponse>(.get, "x"))
        inner = found.withLock { $0 }
        #expect(outcome.endedWith == nil && inner?.kind == .credentialsFailed)
        #expect(inner?.detail.contains("fetches it") == true)
        box.withLock { $0 = nil }
    }
}
