import RelayKit
import RelayTestSupport
import Testing

@Suite("The facts about a failure that a caller is told", .timeLimit(.minutes(5)))
struct FailureTaxonomyTests {
    @Test(
        "Only 200 to 299 is a success; every other status is a failure that keeps status, class, answer and request",
        .clauses("G1-02", "G1-04", "G3-03", "G3-04", "T-03", "T-82"),
        arguments: [
            (300, Status.Class.redirection), (304, .redirection), (399, .redirection), (400, .clientError),
            (401, .clientError), (404, .clientError), (499, .clientError), (500, .serverError),
            (503, .serverError), (509, .serverError), (599, .serverError),
        ] as [(UInt16, Status.Class)]
    )
    func statusClasses(code: UInt16, wanted: Status.Class) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: code), [("X-Why", "because")], "no")])
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.kind == .httpStatus && failure.status?.class == wanted)
        #expect(failure.status?.rawValue == code && failure.response?.text == "no")
        #expect(failure.response?.fields[try #require(FieldName("x-why"))] == "because")
        #expect(
            failure.request?.target == "x" && failure.sent == (wanted == .clientError ? .refused : .answered)
        )
    }

    @Test(
        "Both ends of the range of successes are in it",
        .clauses("G3-03"),
        arguments: [200, 204, 299] as [UInt16]
    )
    func successes(code: UInt16) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: code))])
        #expect(try await bench.service.execute(.plain()).status.rawValue == code)
    }

    @Test(
        "A status that no final answer has is a fault of the protocol, of no class",
        .clauses("G1-04", "G3-03"),
        arguments: [100, 199, 600, 999] as [UInt16]
    )
    func strangeStatuses(code: UInt16) async throws {
        let bench = try ServiceBench([.answer(Status(rawValue: code), [], "body")])
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.kind == .httpProtocolError && failure.status == nil)
    }

    @Test(
        "A failure before or without an answer has no answer, and says whether the request was sent",
        .clauses("G1-03", "G1-04", "G3-02", "G3-04"),
        arguments: [
            (FailureKind.dnsError, Sent.neverSent), (.connectionRefused, .neverSent),
            (.connectionTimeout, .neverSent), (.tlsCertificateError, .neverSent),
            (.httpResponseTimeout, .unknown), (.connectionTerminated, .unknown),
            (.httpResponseIncomplete, .unknown),
        ]
    )
    func transportFailures(kind: FailureKind, sent: Sent) async throws {
        let bench = try ServiceBench([.fail(kind, sent)])
        let failure = try #require(await bench.failure(of: .plain()))
        #expect(failure.kind == kind && failure.sent == sent)
        #expect(failure.response == nil && failure.status == nil && failure.request?.target == "x")
    }

    @Test("A success without content is a success; a policy may want content", .clauses("G1-05", "T-81"))
    func emptySuccess() async throws {
        let bench = try ServiceBench([.answer(200), .answer(200)])
        #expect(try await bench.service.execute(.plain()).bytes == [])
        #expect(await bench.failure(of: .recipe())?.kind == .emptyResponse)

        let strict = try ServiceBench([.answer(200)]) { $0.response.empty = .error }
        let failure = try #require(await strict.failure(of: .plain()))
        #expect(failure.kind == .emptyResponse && failure.status == 200)
    }

    @Test("A recipe that can be read is the value; the answer is decoded once", .clauses("G1-06", "T-01"))
    func decoded() async throws {
        let bench = try ServiceBench([.answer(200, [], #"{"title":"soup"}"#)])
        #expect(try await bench.service.execute(Request.recipe("recipes/1")) == Recipe(title: "soup"))
        #expect(bench.transport.sent.map(\.target) == ["/v1/recipes/1"])
        #expect(bench.transport.sent.map(\.method) == [.get])
    }

    @Test(
        "A 200 that is no recipe is a decoding failure with the decoder's error, not a status failure",
        .clauses("G1-10", "G3-05", "T-02", "T-98"),
        arguments: ["<html>", "{}", ""]
    )
    func undecodable(content: String) async throws {
        let bench = try ServiceBench([.answer(200, [], content)])
        let failure = try #require(await bench.failure(of: .recipe()))
        #expect(failure.kind == (content.isEmpty ? .emptyResponse : .decoding))
        #expect(failure.status == 200 && failure.underlying != nil)
        #expect(failure.response?.text == content && bench.transport.sent.count == 1)
        #expect(failure.detail.contains("Recipe") && !failure.detail.contains("html"))
    }

    @Test(
        "A transform may throw any error, and the caller finds it in the failure",
        .clauses("G1-06", "G3-05")
    )
    func transformError() async throws {
        let bench = try ServiceBench([.answer(200)])
        let request = Request<Int>(HTTPRequest(method: .get, target: "x")) { _ in
            throw RecipeProblem(code: "burnt")
        }
        let failure = try #require(await bench.failure(of: request))
        #expect(
            failure.kind == .decoding && failure.underlying as? RecipeProblem == RecipeProblem(code: "burnt")
        )
    }

    @Test(
        "A failure that a closure throws is taken as it is, not wrapped in another",
        .clauses("G1-07", "T-99")
    )
    func noNesting() async throws {
        let bench = try ServiceBench([.answer(200), .answer(200)])
        let own = Failure("out_of_salt", sent: .answered, "no salt")
        let transforming = Request<Int>(HTTPRequest(method: .get, target: "x")) { _ in throw own }
        var validating = Request.plain()
        validating.successValidator = { _ in throw own }
        for failure in [await bench.failure(of: transforming), await bench.failure(of: validating)] {
            #expect(failure?.kind == "out_of_salt" && failure?.detail == "no salt")
            #expect(failure?.underlying == nil)
        }
    }

    @Test("Each job has one outcome, of one kind: a value or a failure", .clauses("G3-01", "G1-15"))
    func oneOutcome() async throws {
        let log = CallLog()
        let bench = try ServiceBench(
            [.answer(503), .answer(200), .answer(503), .answer(404)],
            policy: { $0.recovery = [.again(on: [503])] },
            observers: [EndObserver(log: log)]
        )
        _ = try await bench.service.execute(.plain())
        await #expect(throws: Failure.self) { try await bench.service.execute(.plain()) }
        #expect(log.lines == ["succeeded", "failed"])
    }

    @Test("The policy says what a success is, the transport only carries it", .clauses("G1-01", "UC-14"))
    func layers() async throws {
        let bench = try ServiceBench([.answer(404, [], "none yet")]) {
            $0.success.statuses = StatusSet(codes: [404], classes: [.success])
        }
        #expect(try await bench.service.execute(.plain()).text == "none yet")
    }
}

/// Notes how every job ended.
private struct EndObserver: AttemptObserver {
    let log: CallLog

    func finished(_ job: FinishedJob) { log.note(job.failure == nil ? "succeeded" : "failed") }
}
