import RelayKit
import RelayTestSupport
import Testing

@Suite("Strategies that see the request", .timeLimit(.minutes(5)))
struct RequestStrategyTests {
    private static let soup = #"{"title":"soup"}"#

    private typealias Failed = FailedRequest<Book, ShopError>

    /// Asks for the same below another path, whatever the types.
    private struct OldPath: RequestStrategy {
        let log: Log

        func recover<Response, ServerError>(
            from failed: FailedRequest<Response, ServerError>,
            context: RecoveryContext
        ) async -> RequestDisposition<Response, ServerError> {
            log.note(
                "\(Response.self) \(failed.error as? ShopError == .closed) \(failed.failure.status ?? 0)"
            )
            guard context.attemptsLeft > 0 else { return .passOn }
            return .retry(failed.request.usingTarget("old/7"))
        }
    }

    @Test(
        "A strategy of requests sees them with their own error, whatever their types, and sends them again",
        .clauses("G2-10", "G2-13", "G3-07", "G3-10")
    )
    func seen() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(503), .answer(200, [], Self.soup), .answer(503), .answer(200)])
        {
            $0.recovery = [.strategy(OldPath(log: log), on: [503])]
        }
        let outcome = await bench.service.outcome(of: .shop())
        #expect(outcome.value?.title == "soup" && outcome.recoveredBy == ["OldPath"])
        #expect(await bench.service.outcome(of: PlainRequest<Void>(.get, "x")).failure == nil)
        #expect(log.lines == ["Book true 503 Service Unavailable", "() false 503 Service Unavailable"])
        #expect(bench.transport.sent.map(\.target) == ["/v1/7", "/v1/old/7", "/v1/x", "/v1/old/7"])
    }

    @Test(
        "A strategy recovers with another request of the same types, whose own reading, steps and error then count",
        .clauses("UC-04", "G3-10"),
        arguments: [200, 503] as [UInt16]
    )
    func another(status: UInt16) async throws {
        let bench = try ServiceBench([.answer(404), .answer(Status(rawValue: status), [], "plain")]) {
            $0.recovery = [
                .recovering("other", on: [404]) { (_: Failed, _) in
                    var other = Request<Book, ShopError>(HTTPRequest(method: .get, target: "text")) {
                        success in
                        Book(title: success.response.text ?? "")
                    }
                    other.preparation = [Prepare.changing { http, _ in http.fields.set("X-Own", "1") }]
                    return .retry(other.throwing { _ in ShopError.throttled }, after: .seconds(2))
                }
            ]
        }
        let outcome = await bench.service.outcome(of: .shop())
        #expect(outcome.value?.title == (status == 200 ? "plain" : nil))
        #expect(outcome.error == (status == 200 ? nil : .throttled))
        #expect(bench.transport.sent.map(\.target) == ["/v1/7", "/v1/text"])
        #expect(bench.sentValues(try #require(FieldName("X-Own"))) == ["-", "1"])
        #expect(bench.time.waits == [.seconds(2)])
    }

    @Test("A retry that is not made leaves the job with the request it had", .clauses("G2-13", "G3-10"))
    func refused() async throws {
        let bench = try ServiceBench([.answer(500), .answer(200, [], Self.soup)]) {
            $0.recovery = [
                .recovering("other") { (failed: FailedRequest<Book, ShopError>, _) in
                    // The time is up before the wait is over, so that it is not made.
                    .retry(failed.request.map { _ in Book(title: "other") }, after: .seconds(3600))
                },
                .again(),
            ]
        }
        #expect(await bench.service.outcome(of: .shop()).value?.title == "soup")
    }

    @Test(
        "An error that a strategy stops with is the caller's, whatever else rewrites errors",
        .clauses("G3-09")
    )
    func stopped() async throws {
        let bench = try ServiceBench([.answer(503), .answer(503)]) {
            $0.recovery = [
                .recovering("stop") { (failed: Failed, _) in
                    failed.error == .throttled ? .stop(.soldOut) : .passOn
                }
            ]
        }
        let request = Request<Book, ShopError>.shop().throwing { _ in ShopError.throttled }
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.error == .soldOut && outcome.stoppedBy == "stop")
        #expect(outcome.failure?.status == 503)
        // Requests of other types pass it.
        #expect(await bench.run().stoppedBy == nil)
    }

    @Test("A strategy of plain requests stops with a failure like any other", .clauses("G3-09"))
    func plain() async throws {
        let bench = try ServiceBench([.answer(503)]) {
            $0.recovery = [
                .recovering("stop") { (failed: FailedRequest<HTTPResponse, Failure>, _) in
                    .stop(Failure("own", sent: failed.error.sent, "stopped"))
                }
            ]
        }
        #expect(await bench.run().failure?.kind == "own")
    }

    /// Stops whatever it is with an error that no request knows.
    private struct Stopping<Own: Error>: RequestStrategy {
        let error: Own

        func recover<Response, ServerError>(
            from failed: FailedRequest<Response, ServerError>,
            context: RecoveryContext
        ) async -> RequestDisposition<Response, ServerError> { failed.stopping(with: error) }
    }

    @Test("A strategy for all requests stops with any error, the request's own as it is", .clauses("G3-09"))
    func anyError() async throws {
        let foreign = try ServiceBench([.answer(503), .answer(503)]) {
            $0.recovery = [.strategy(Stopping(error: Problem(code: "closed")))]
        }
        let plain = await foreign.run().failure
        #expect(plain?.status == 503 && (plain?.underlying as? Problem)?.code == "closed")
        let typed = await foreign.service.outcome(of: .shop())
        #expect(typed.error == .closed && typed.failure?.status == 503)
        let own = try ServiceBench([.answer(503), .answer(503)]) {
            $0.recovery = [.strategy(Stopping(error: ShopError.soldOut))]
        }
        #expect(await own.service.outcome(of: .shop()).error == .soldOut)
        let failing = try ServiceBench([.answer(503)]) {
            $0.recovery = [.strategy(Stopping(error: Failure("own", sent: .answered, "stopped")))]
        }
        #expect(await failing.run().failure?.kind == "own")
    }

    @Test("Job by job, and the time of a strategy counts", .clauses("G1-14", "G2-19"))
    func bounded() async throws {
        let log = Log()
        let bench = try ServiceBench(Array(repeating: .answer(503), count: 9)) {
            $0.maxAttempts = 3
            $0.recovery = [.strategy(OldPath(log: log), on: [503])]
        }
        let outcome = await bench.service.outcome(of: .shop())
        #expect(outcome.error == .closed && outcome.attempts.count == 3 && log.lines.count == 3)
    }
}
