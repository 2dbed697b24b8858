import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayServer
import RelayTestSupport
import Testing

@Suite("The problem told to a caller that gets no answer of the upstream")
struct ProblemTests {
    @Test("That time was wanting, where it was", .clauses("N-08"), arguments: [true, false])
    func pastDeadline(isPastDeadline: Bool) throws {
        var failure = Failure(.connectionRefused, sent: .neverSent, "127.0.0.1:9 refused the connection")
        failure.isPastDeadline = isPastDeadline
        let id = JobID(milliseconds: 1, random: (2, 3))
        let problem = Problem(failure, route: "r", job: id, tookAllTime: false)
        let document = try JSONValue(parsing: problem.body)
        #expect(document["past_deadline"] == (isPastDeadline ? .bool(true) : nil))
        #expect(document["code"] == .string("upstream_failed"))
    }

    @Test(
        "A copy of the body that cannot be read hides no attempt that may have been carried out",
        arguments: [
            (.neverSent, 503, "storage_failed", true), (.refused, 503, "storage_failed", true),
            (.unknown, 502, "upstream_failed", false), (.answered, 502, "upstream_failed", false),
        ] as [(Sent, Int, String, Bool)]
    )
    func unreadCopy(sent: Sent, status: Int, code: String, isRepeated: Bool) throws {
        let failure = Failure(.storedBodyUnread, sent: sent, "cannot read a request body back")
        let id = JobID(milliseconds: 1, random: (2, 3))
        let problem = Problem(failure, route: "r", job: id, tookAllTime: false)
        let document = try JSONValue(parsing: problem.body)
        #expect(Int(problem.status.rawValue) == status && document["code"] == .string(code))
        #expect(document["sent"] == .string(sent.rawValue))
        #expect((problem.retryAfter != nil) == isRepeated)
    }

    @Test(
        "A request that may have been carried out is not asked for once more",
        arguments: [
            (.overloaded, .neverSent, 503, "overloaded", true),
            (.overloaded, .answered, 503, "overloaded", false),
            (.cancelled, .neverSent, 503, "draining", true), (.cancelled, .unknown, 503, "draining", false),
            (.storedBodyCorrupt, .neverSent, 503, "storage_failed", false),
            (.connectionRefused, .answered, 502, "upstream_failed", false),
            (.tlsProtocolError, .refused, 502, "upstream_failed", false),
            (.connectionTerminated, .answered, 502, "invalid_response", false),
            (.decoding, .answered, 502, "invalid_response", false),
        ] as [(FailureKind, Sent, Int, String, Bool)]
    )
    func again(kind: FailureKind, sent: Sent, status: Int, code: String, isAsked: Bool) {
        let id = JobID(milliseconds: 1, random: (2, 3))
        let problem = Problem(Failure(kind, sent: sent, "no"), route: "r", job: id, tookAllTime: false)
        #expect(Int(problem.status.rawValue) == status && problem.code.name == code)
        #expect((problem.retryAfter != nil) == isAsked)
    }

    @Test(
        "A request that is safe to repeat is asked for again where that may help",
        arguments: [true, false]
    )
    func repeatable(isRepeatable: Bool) {
        var failure = Failure(.overloaded, sent: .answered, "the answer found no room")
        func problem() -> Problem {
            let id = JobID(milliseconds: 1, random: (2, 3))
            return Problem(failure, route: "r", job: id, tookAllTime: false, isRepeatable: isRepeatable)
        }
        #expect(problem().retryAfter == nil)
        failure.retryAfter = .seconds(1)
        #expect(problem().retryAfter == (isRepeatable ? .seconds(1) : nil))
    }

    @Test(
        "Every problem has a title, a failing status and a body that is its own documentation",
        arguments: Problem.Code.allCases
    )
    func problems(code: Problem.Code) throws {
        var problem = Problem(code, "why \"it\" failed")
        problem.retryAfter = .milliseconds(1500)
        let body = try JSONValue(parsing: problem.body)
        #expect(body["code"] == .string(code.name) && body["detail"] == .string("why \"it\" failed"))
        #expect(body["type"] == .string("urn:waystation:problem:\(code.name)"))
        #expect(body["retry_after_ms"] == .number(JSONNumber(text: "1500")))
        #expect(code.status.rawValue >= 400 && !code.title.isEmpty)
    }
}
