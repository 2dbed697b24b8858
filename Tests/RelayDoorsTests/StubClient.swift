import RelayDoors
import RelayKit
import Synchronization

/// A request of a client whose types are its own.
struct StubHead: Sendable {
    var verb = "GET"
    var path = "/items/7?full=1"
    var headers: [String: String] = [:]
}

/// Content that can be read once, or is at hand.
enum StubBody: Sendable {
    case none
    case bytes([UInt8])
    case once([UInt8])
}

struct StubAnswer: Sendable, Equatable {
    var code: UInt16
    var headers: [String: String] = [:]
    var text = ""
}

enum StubError: Error, Equatable {
    case refused
    case broken
}

struct StubGlue: MiddlewareGlue {
    var maps = true
    var makesAnswers = true

    func method(of head: StubHead) -> Method { Method(rawValue: head.verb) }

    func target(of head: StubHead) -> String { head.path }

    func fields(of head: StubHead) -> HeaderFields { Self.fields(head.headers) }

    func head(_ head: StubHead, with fields: HeaderFields) -> StubHead {
        var head = head
        head.headers = Dictionary(fields.pairs.map { ($0.name.lowercased(), $0.value) }) { $1 }
        return head
    }

    func status(of answer: StubAnswer) -> Status { Status(rawValue: answer.code) }

    func fields(of answer: StubAnswer) -> HeaderFields { Self.fields(answer.headers) }

    func repeatable(_ body: StubBody, upTo limit: Int) async throws -> StubBody? {
        switch body {
        case .none, .bytes: body
        case .once(let bytes): bytes.count <= limit ? .bytes(bytes) : nil
        }
    }

    func failure(for error: any Error) -> Failure? {
        guard maps, error as? StubError == .refused else { return nil }
        return Failure(.connectionRefused, sent: .neverSent, "nobody listens")
    }

    func answer(_ response: HTTPResponse) -> StubAnswer? {
        makesAnswers ? StubAnswer(code: response.status.rawValue, text: response.text ?? "") : nil
    }

    private static func fields(_ headers: [String: String]) -> HeaderFields {
        var fields = HeaderFields()
        for (name, value) in headers { fields.append(name, value) }
        return fields
    }
}

/// A client that plays a script and keeps what it was asked to send.
final class StubClient: Sendable {
    enum Step: Sendable {
        case answer(StubAnswer)
        case fail(StubError)
        /// Nothing comes until the task is cancelled.
        case silence
    }

    private let state: Mutex<(steps: [Step], sent: [(head: StubHead, body: StubBody)])>

    init(_ steps: Step...) { state = Mutex((steps, [])) }

    var sent: [(head: StubHead, body: StubBody)] { state.withLock { $0.sent } }

    func send(_ head: StubHead, _ body: StubBody) async throws -> StubAnswer {
        let step = state.withLock { state in
            state.sent.append((head, body))
            return state.steps.removeFirst()
        }
        switch step {
        case .answer(let answer): return answer
        case .fail(let error): throw error
        case .silence:
            let (never, end) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            _ = end
            throw StubError.broken
        }
    }
}

extension StubClient.Step {
    static func answer(_ code: UInt16, _ headers: [String: String] = [:]) -> StubClient.Step {
        .answer(StubAnswer(code: code, headers: headers))
    }
}
