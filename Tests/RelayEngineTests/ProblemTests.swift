import RelayCore
import RelayJSON
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("What a caller is told who gets no answer of the upstream")
struct ProblemTests {
    @Test("That time was wanting, where it was", .clauses("N-08"), arguments: [true, false])
    func pastDeadline(isPastDeadline: Bool) throws {
        var failure = Failure(.connectionRefused, sent: .neverSent, "127.0.0.1:9 refused the connection")
        failure.isPastDeadline = isPastDeadline
        let id = JobID(milliseconds: 1, random: (2, 3))
        let problem = Problem(failure, route: "r", job: id, pastDeadline: false)
        let document = try JSONValue(parsing: problem.body)
        #expect(document["past_deadline"] == (isPastDeadline ? .bool(true) : nil))
        #expect(document["code"] == .string("upstream_failed"))
    }
}
