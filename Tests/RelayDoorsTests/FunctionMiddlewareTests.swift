import RelayDoors
import RelayKit
import RelayTesting
import Synchronization
import Testing

@Suite("A middleware around a function, without a glue", .timeLimit(.minutes(1)))
struct FunctionMiddlewareTests {
    private struct Lost: Error {}

    private final class Piece: BodySource {
        let wasRead = false
        let length: UInt64? = 1
        func next() async throws(Failure) -> [UInt8]? { nil }
        func cancel() {}
    }

    /// Sends one request, whose attempts end as `steps` say; what was sent comes back with what came of it.
    private func send(
        _ request: HTTPRequest,
        _ steps: [Result<HTTPResponse, any Error>],
        _ change: (inout RoutePolicy) -> Void = { $0.recovery = [.backoff(on: [.any])] }
    ) async throws -> (sent: [HTTPRequest], result: Result<HTTPResponse, any Error>) {
        let relay = try FunctionMiddleware(
            time: VirtualTime(),
            entropy: SeededEntropy(),
            credentials: [CredentialDefinition("login") { AccessToken("t") }],
            policy: change
        )
        let left = Mutex((steps: steps, sent: [HTTPRequest]()))
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(
                try await relay.send(request) { request in
                    try left.withLock { left in
                        left.sent.append(request)
                        return left.steps.removeFirst()
                    }.get()
                }
            )
        } catch {
            result = .failure(error)
        }
        return (left.withLock { $0.sent }, result)
    }

    @Test("A request is sent again with its content, and with the fields that the policy adds")
    func recovery() async throws {
        let put = HTTPRequest(method: .put, target: "books/7?full=1", body: .bytes([1, 2]))
        let answers = [HTTPResponse(status: 503), HTTPResponse(status: 200, body: .bytes([3]))]
        let (sent, result) = try await send(put, answers.map { .success($0) }) { policy in
            policy.authentication = Authentication(form: .bearer, credential: "login")
            policy.recovery = [.backoff(on: [503])]
        }
        #expect(try result.get().bytes == [3])
        #expect(sent.map(\.target) == [put.target, put.target] && sent.allSatisfy { $0.method == .put })
        #expect(sent.map { $0.fields[.authorization] } == ["Bearer t", "Bearer t"])
        #expect(sent.allSatisfy { if case .bytes([1, 2]) = $0.body { true } else { false } })
    }

    @Test(
        "An error leaves open how far a request got, unless it is a failure that says so; a stream is sent once",
        arguments: [
            (Method.post, false, Sent?.none, 1), (.get, false, nil, 2), (.post, false, .neverSent, 2),
            (.post, false, .unknown, 1), (.get, true, nil, 1),
        ]
    )
    func errors(method: Method, isStream: Bool, says: Sent?, count: Int) async throws {
        let error: any Error = says.map { Failure(.connectionTerminated, sent: $0, "") } ?? Lost()
        let request = HTTPRequest(method: method, target: "books", body: isStream ? .stream(Piece()) : .empty)
        let (sent, result) = try await send(request, [.failure(error), .success(HTTPResponse(status: 204))])
        #expect(sent.count == count)
        #expect((try? result.get().status) == (count == 2 ? 204 : nil))
    }

    @Test("The response of a rule is the answer")
    func placeholder() async throws {
        let (sent, result) = try await send(
            HTTPRequest(method: .get, target: "books"),
            [.success(HTTPResponse(status: 500))]
        ) { $0.recovery = [.placeholder(CannedAnswer(bytes: "none".utf8), on: [500])] }
        #expect(try result.get().text == "none" && sent.count == 1)
    }
}
