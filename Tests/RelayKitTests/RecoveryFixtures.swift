import RelayJSON
import RelayKit
import RelayTestSupport
import Synchronization

/// A log of what the closures of a test did, in order.
final class CallLog: Sendable {
    private let kept = Mutex<[String]>([])

    func note(_ line: String) { kept.withLock { $0.append(line) } }

    var lines: [String] { kept.withLock { $0 } }

    func count(of line: String) -> Int { lines.count { $0 == line } }
}

/// A strategy that notes its name whenever it is asked; the test answers for it.
struct AdvisingStrategy: RecoveryStrategy {
    typealias Answer = @Sendable (Failure, HTTPRequest, RecoveryContext) async -> RecoveryDisposition

    let name: String
    let log: CallLog
    let answer: Answer

    init(_ name: String, _ log: CallLog = CallLog(), _ answer: @escaping Answer = { _, _, _ in .passOn }) {
        self.name = name
        self.log = log
        self.answer = answer
    }

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        log.note(name)
        return await answer(failure, request, context)
    }
}

/// A value of a program's own, with an error of its own and a coder for both.
struct Recipe: Codable, Equatable, Sendable {
    var title: String
}

/// The document that the upstream of these tests writes when it has an error to tell.
struct RecipeProblem: Error, Codable, Equatable {
    var code: String
}

/// Reads and writes both; `{"title": …}` and `{"code": …}`.
struct RecipeCoder: ContentDecoder, ContentEncoder {
    struct Unreadable: Error, Equatable {}

    func decodeContent<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let value = try JSONValue(parsing: bytes)
        if case .string(let title)? = value["title"], let found = Recipe(title: title) as? Value {
            return found
        }
        if case .string(let code)? = value["code"], let found = RecipeProblem(code: code) as? Value {
            return found
        }
        throw Unreadable()
    }

    func encodeContent(_ value: some Encodable) throws -> [UInt8] {
        guard let recipe = value as? Recipe else { throw Unreadable() }
        return JSONValue.object([.init("title", .string(recipe.title))]).encoded()
    }
}

extension Request where Response == Recipe {
    /// A request for a recipe.
    static func recipe(_ path: RequestPath = "r", container: JSONPointer? = nil) -> Request<Recipe> {
        Request(.get, path, decoder: RecipeCoder(), container: container)
    }
}

extension Request where Response == HTTPResponse {
    /// A request for whatever comes.
    static func plain(_ method: RelayBase.Method = .get) -> Request<HTTPResponse> { Request(method, "x") }
}

extension ServiceBench {
    /// How the request ended, where it failed.
    func failure<Response>(of request: Request<Response>) async -> Failure? {
        if case .failure(let failure) = await service.outcome(of: request).result { failure } else { nil }
    }

    /// Values of one field over all sends, "-" where there was none.
    func sentValues(_ name: FieldName) -> [String] {
        transport.sent.map { ($0.addedFields.values(name) + $0.fields.values(name)).first ?? "-" }
    }
}

extension RecoveryRule {
    /// Sends again after a second; counts as a rule of its own.
    static func again(_ maxAttempts: Int = 10, on matcher: FailureMatcher = [.any]) -> RecoveryRule {
        .backoff(
            on: matcher,
            maxAttempts: maxAttempts,
            Backoff(schedule: .constant(.seconds(1)), jitter: .none),
            name: "again"
        )
    }
}
