import RelayKit
import RelayTestSupport
import Testing

@Suite("A program's own errors", .timeLimit(.minutes(5)))
struct OwnErrorTests {
    /// Reads the answer itself, and each status in its own way.
    enum KitchenError: Error, Equatable {
        case outOfStock(String)
        case throttled(seconds: Int64)
        case refusedInContent(Problem)
        case unreadable
        case unreachable
        case other(UInt16)

        init(status failure: Failure) {
            switch failure.status {
            case 404: self = .outOfStock(failure.response?.text ?? "")
            case 429: self = .throttled(seconds: failure.retryAfter?.components.seconds ?? 0)
            case let status?: self = .other(status.rawValue)
            case nil: self = .unreachable
            }
        }
    }

    @Test(
        "An error type of the caller's own is made from the failure, and reads each status in its own way",
        .clauses("G1-06", "G1-08", "G3-01", "T-125"),
        arguments: [
            (.answer(404, [], "salt"), .outOfStock("salt")),
            (.answer(429, [("Retry-After", "7")]), .throttled(seconds: 7)), (.answer(500), .other(500)),
            (.fail(.connectionRefused, .neverSent), .unreachable),
        ] as [(ScriptedTransport.Step, KitchenError)]
    )
    func fromFailure(step: ScriptedTransport.Step, wanted: KitchenError) async throws {
        let bench = try ServiceBench([step])
        await #expect(throws: wanted) {
            try await bench.service.execute(Request.plain().throwing(KitchenError.self))
        }
    }

    @Test(
        "A 200 that does not decode is offered to the error type, which may read the content as an error",
        .clauses("G1-09", "G1-10"),
        arguments: [
            (#"{"code":"burnt"}"#, KitchenError.refusedInContent(Problem(code: "burnt"))),
            ("<html>", .unreadable),
        ]
    )
    func secondChance(content: String, wanted: KitchenError) async throws {
        let bench = try ServiceBench([.answer(200, [], content)])
        await #expect(throws: wanted) {
            try await bench.service.execute(Request.book().throwing(KitchenError.self))
        }
    }

    @Test("A value that decodes never meets the error type", .clauses("G1-06", "G3-01", "G3-17"))
    func success() async throws {
        let bench = try ServiceBench([.answer(200, [], #"{"title":"soup"}"#)])
        let book = try await bench.service.execute(Request.book().throwing(KitchenError.self))
        #expect(book.title == "soup")
    }
}

extension OwnErrorTests.KitchenError: FailureInitializable {
    init(_ failure: Failure) {
        guard failure.kind == .decoding else {
            self.init(status: failure)
            return
        }
        let problem = try? ShapeCoder().decodeContent(
            Problem.self,
            from: failure.response?.bytes ?? []
        )
        self = problem.map { .refusedInContent($0) } ?? .unreadable
    }
}
