import RelayKit
import RelayTestSupport
import Testing

/// The error of a shop's requests.
enum ShopError: FailureInitializable, Equatable {
    case closed
    case throttled
    case soldOut
    case unreadable
    case other(FailureKind)

    init(_ failure: Failure) {
        switch (failure.status, failure.kind) {
        case (503, _): self = .closed
        case (429, _): self = .throttled
        case (_, .decoding): self = .unreadable
        default: self = .other(failure.kind)
        }
    }
}

extension Request<Book, ShopError> {
    /// A request that says what its errors are.
    static func shop(_ path: RequestPath = "7") -> Request { Request(.get, path, decoder: ShapeCoder()) }
}

@Suite("The error belongs to the request", .closedRunQueue, .timeLimit(.minutes(5)))
struct TypedErrorTests {
    private static let soup = #"{"title":"soup"}"#

    @Test(
        "Every way to wait for an answer ends with the request's own error, beside the failure it is made of",
        .clauses("G1-06", "G1-08", "T-125")
    )
    func everyWay() async throws {
        let bench = try ServiceBench(Array(repeating: .answer(503, [], "later"), count: 5))
        let service = bench.service
        do {
            _ = try await service.execute(.shop())
            Issue.record("a failure was a book")
        } catch {
            // The type is known here: no cast.
            let own: ShopError = error
            #expect(own == .closed)
        }
        let outcome = await service.outcome(of: .shop())
        #expect(outcome.error == .closed && outcome.result.failed == .closed)
        #expect(outcome.failure?.status == 503 && outcome.failure?.sent == .answered)
        #expect(outcome.failure?.response?.text == "later" && outcome.attempts.count == 1)
        let value = await service.value(of: .shop()) { error in Book(title: "\(error)") }
        #expect(value.title == "closed")
        for await outcome in service.outcomes(of: input([.shop()])) {
            #expect(outcome.error == .closed && outcome.failure?.status == 503)
        }
        let loader = Loader(.shop(), from: service)
        loader.startLoading()
        for await state in loader.states() {
            if case .failure(let error, cached: nil) = state {
                #expect(error == .closed)
                break
            }
        }
    }

    @Test(
        "An error of its type that the program's own code threw is the request's error as it is",
        .clauses("G3-05", "G3-14", "AX-09", "T-101"),
        arguments: ["validator", "preparation", "document", "strategy", "transform"]
    )
    func asItIs(thrower: String) async throws {
        let bench = try ServiceBench([.answer(thrower == "strategy" ? 410 : 200, [], Self.soup)]) {
            $0.recovery = [
                .advice { failure, _, _ in failure.status == 410 ? .stop(ShopError.soldOut) : .passOn }
            ]
        }
        var request = Request<Book, ShopError>.shop()
        switch thrower {
        case "validator": request.successValidator = { _ in throw ShopError.soldOut }
        case "preparation": request.preparation = [Prepare(.attempt) { _, _ in throw ShopError.soldOut }]
        case "document": request.errorDocument = ErrorDocument { _ in ShopError.soldOut }
        case "transform": request = request.map { _ in throw ShopError.soldOut }
        default: break
        }
        let outcome = await bench.service.outcome(of: request)
        #expect(outcome.error == .soldOut)
        let kinds: [String: FailureKind] = [
            "validator": .invalidResponse, "preparation": .preparation, "document": .apiError,
            "strategy": .httpStatus, "transform": .decoding,
        ]
        #expect(outcome.failure?.kind == kinds[thrower])
        #expect(outcome.failure?.underlying is ShopError)
    }

    @Test("A strategy may stop a job with any error, which the failure of the attempt then carries")
    func anyError() async throws {
        let bench = try ServiceBench([.answer(410, [], "gone")]) {
            $0.recovery = [.advice { _, _, _ in .stop(Problem(code: "closed")) }]
        }
        let failure = try #require(await bench.run().failure)
        #expect(failure.kind == .httpStatus && failure.status == 410 && failure.response?.text == "gone")
        #expect((failure.underlying as? Problem)?.code == "closed")
    }

    @Test(
        "The error is another by type, by closure and back again, and the last one counts",
        .clauses("G1-06", "G3-17", "G3-18")
    )
    func derived() async throws {
        let bench = try ServiceBench(Array(repeating: .answer(503), count: 5))
        let service = bench.service
        let plain = Request.book().throwing { Failure("named", sent: $0.sent, "for the caller") }
        #expect(await service.outcome(of: plain).error?.kind == "named")
        let typed = await service.outcome(of: plain.throwing(ShopError.self))
        #expect(typed.error == .other("named") && typed.failure?.kind == "named")
        let soldOut = await service.outcome(of: Request.book().throwing { _ in ShopError.soldOut })
        #expect(soldOut.error == .soldOut && soldOut.failure?.status == 503)
        let chained = Request<Book, ShopError>.shop().throwing { $0 == .closed ? ShopError.throttled : $0 }
        #expect(await service.outcome(of: chained.map { $0 }).error == .throttled)
        let back = await service.outcome(of: chained.throwing { Failure("back", sent: .unknown, "\($0)") })
        #expect(back.error?.detail == "throttled" && back.failure?.kind == "back")
    }

    @Test("An observer sees the request as it was written, and its own error")
    func observed() async throws {
        let log = Log()
        let bench = try ServiceBench([.answer(503)], observers: [Watch(log: log)])
        _ = await bench.service.outcome(of: .shop("books/7"))
        #expect(log.lines == ["books/7 closed after 1", "finished"])
    }
}

private struct Watch: AttemptObserver {
    let log: Log

    func finished<Response, ServerError>(
        _ request: Request<Response, ServerError>,
        with outcome: JobOutcome<Response, ServerError>
    ) {
        let error = (outcome.error as? ShopError).map { "\($0)" } ?? "no error"
        log.note("\(request.http.target) \(error) after \(outcome.attempts.count)")
    }

    func finished(_ job: FinishedJob) { log.note("finished") }
}

extension Result {
    fileprivate var failed: Failure? { if case .failure(let error) = self { error } else { nil } }
}
