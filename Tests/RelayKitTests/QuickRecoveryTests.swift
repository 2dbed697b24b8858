import RelayKit
import RelayTestSupport
import Testing

@Suite("A failure that is a success after all", .timeLimit(.minutes(5)))
struct QuickRecoveryTests {
    @Test(
        "A hook makes a success of a 500, with one send and no strategy asked",
        .clauses("G2-01", "G2-02", "G2-09", "T-06")
    )
    func beforeStrategies() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(500, [], #"{"title":"old soup"}"#)]) {
            $0.recovery = [.advice("asked", log), .again()]
        }
        var request = Request.book()
        request.quickRecovery = { $0.response }
        let outcome = await bench.service.outcome(of: request)
        #expect(try outcome.result.get() == Book(title: "old soup"))
        #expect(log.lines == [] && bench.transport.sent.count == 1 && bench.time.waits == [])
        #expect(outcome.attempts.map(\.next) == [.quickRecovery] && outcome.source == .upstream)
    }

    @Test("A redirect is an answer, and a hook makes its Location the value", .clauses("G2-03", "G3-13"))
    func redirectAsSuccess() async throws {
        let bench = try ServiceBench([.answer(302, [("Location", "https://elsewhere.example/next")])])
        var request = PlainRequest<String?>(HTTPRequest(method: .get, target: "login")) { success in
            #expect(success.response.status == .found)
            return success.response.fields[.location]
        }
        request.quickRecovery = { $0.status?.isRedirection == true ? $0.response : nil }
        request = request.throwing { failure in
            Issue.record("no failure is made of it")
            return failure
        }
        #expect(try await bench.service.execute(request) == "https://elsewhere.example/next")
        #expect(bench.transport.sent.count == 1)
    }

    @Test("A redirect the policy follows never reaches the hook", .clauses("G3-13"))
    func followed() async throws {
        let bench = try ServiceBench([.answer(302, [("Location", "/v1/there")]), .answer(200, [], "here")]) {
            $0.response.redirects = .follow
        }
        var request = Request.plain()
        request.quickRecovery = { _ in HTTPResponse(status: 204) }
        #expect(try await bench.service.execute(request).text == "here")
    }

    @Test(
        "A failure without an answer is shown to the hook too, which may answer in its stead",
        .clauses("G2-05")
    )
    func noAnswer() async throws {
        let bench = try ServiceBench([
            .fail(.connectionRefused, .neverSent), .fail(.connectionRefused, .neverSent),
        ])
        var request = Request.plain()
        request.quickRecovery = { $0.response }
        #expect(await bench.failure(of: request)?.kind == .connectionRefused)
        request.quickRecovery = { failure in
            #expect(failure.response == nil && failure.request?.target == "x")
            return HTTPResponse(status: .noContent)
        }
        #expect(try await bench.service.execute(request).status == 204)
    }

    @Test("The decoding failure after a hook goes to the caller; no strategy is asked", .clauses("G2-06"))
    func finalTransform() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(500, [], "<html>")]) {
            $0.recovery = [.advice("asked", log), .again()]
        }
        var request = Request.book()
        request.quickRecovery = { $0.response }
        #expect(await bench.failure(of: request)?.kind == .decoding)
        #expect(log.lines == [] && bench.transport.sent.count == 1)
    }

    @Test(
        "A validator does not look at what a hook returned, unless the request says so",
        .clauses("G2-07"),
        arguments: [false, true]
    )
    func validation(validates: Bool) async throws {
        let bench = try ServiceBench([.answer(500)])
        var request = Request.plain()
        request.quickRecovery = { _ in HTTPResponse(status: 200) }
        request.successValidator = { _ in throw Problem(code: "seen") }
        request.validatesQuickRecovery = validates
        let failure = await bench.failure(of: request)
        #expect((failure?.underlying as? Problem)?.code == (validates ? "seen" : nil))
    }

    @Test("The hook is shown the failure of every attempt, and spends none", .clauses("G2-08"))
    func everyAttempt() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(500), .answer(501), .answer(502, [], "good enough")]) {
            $0.recovery = [.again()]
            $0.maxAttempts = 3
        }
        var request = Request.plain()
        request.quickRecovery = { failure in
            log.note("\(failure.status?.rawValue ?? 0)")
            return failure.status == 502 ? failure.response : nil
        }
        let outcome = await bench.service.outcome(of: request)
        #expect(try outcome.result.get().text == "good enough")
        #expect(log.lines == ["500", "501", "502"] && outcome.recoveredBy == ["again"])
    }
}
