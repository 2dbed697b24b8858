public import RelayBase
import RelayInterface
import RelayJSON

/// Why the relay did not do what was asked (RFC 9457).
public struct RelayProblem: Sendable {
    /// The answer's status.
    public let status: Status
    /// The relay's word for it, such as `route_not_found` or `queue_full`; empty when it gave none.
    public let code: String
    /// In words, safe to show.
    public let detail: String
    /// When to ask again, as the relay says; nil when asking again is not known to help.
    public let retryAfter: Duration?
    /// The job that it is about, as `acceptance_unknown` names the one that may be kept; nil where it names none.
    public let job: String?

    /// Reads the problem document of an answer.
    init(_ status: Status, _ fields: HeaderFields, _ body: [UInt8]) {
        retryAfter = fields[.retryAfter].flatMap { Int64($0) }.map { .seconds(max(0, min($0, 86_400))) }
        let document = try? JSONValue(parsing: body)
        self.status = status
        job = fields[.waystationJob]
        code = document?.member("code") ?? ""
        detail = document?.member("detail") ?? document?.member("title") ?? "no explanation"
    }

    /// Whether the relay may still do what was asked: a write that was begun may reach the disk.
    fileprivate var mayStillBeDone: Bool {
        let codes: [ProblemCode] = [.storageStalled, .storageFailed, .acceptanceUnknown]
        return codes.contains { $0.name == code }
    }
}

extension JSONValue {
    /// A member, as a value of the type that is asked for; nil where it is absent or of another type.
    func member<Value: ReadableValue>(_ name: String) -> Value? { self[name].flatMap(Value.init) }
}

extension RelayClientError {
    /// The error for an answer in which the relay refuses what was asked.
    static func refused(_ response: RelayResponse) -> RelayClientError {
        refused(response.status, response.fields, response.body)
    }

    static func refused(_ status: Status, _ fields: HeaderFields, _ body: [UInt8]) -> RelayClientError {
        let problem = RelayProblem(status, fields, body)
        let code = problem.code.isEmpty ? "" : " \(problem.code)"
        return RelayClientError(
            .refused,
            "the relay answered \(status.rawValue)\(code): \(problem.detail)",
            sent: problem.mayStillBeDone ? .unknown : .refused,
            problem: problem
        )
    }
}
