// Declarations in the shape of async-http-client 1 and swift-nio 2: as much as the glue touches.
import Synchronization

struct HTTPMethod: Sendable {
    var rawValue: String
}

struct HTTPHeaders: Sendable, Sequence {
    private let headers: [(String, String)]

    init(_ headers: [(String, String)] = []) { self.headers = headers }

    func makeIterator() -> IndexingIterator<[(String, String)]> { headers.makeIterator() }
}

struct HTTPClientRequest: Sendable {
    struct Body: Sendable {
        let bytes: [UInt8]

        static func bytes(_ bytes: some Collection<UInt8> & Sendable) -> Body { Body(bytes: Array(bytes)) }
    }

    var url: String
    var method = HTTPMethod(rawValue: "GET")
    var headers = HTTPHeaders()
    var body: Body?

    init(url: String) { self.url = url }
}

struct HTTPResponseStatus: Sendable {
    var code: UInt
}

struct HTTPClientResponse: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
}

struct HTTPClientError: Error, Equatable {
    private let code: Int

    static let connectTimeout = HTTPClientError(code: 1)
    static let readTimeout = HTTPClientError(code: 2)
    static let remoteConnectionClosed = HTTPClientError(code: 3)
}

struct TimeAmount: Sendable {
    static func seconds(_ seconds: Int64) -> TimeAmount { TimeAmount() }
}

final class HTTPClient: Sendable {
    struct Configuration: Sendable {
        enum RedirectConfiguration: Sendable {
            case disallow
        }

        struct ConnectionPool: Sendable {
            var retryConnectionEstablishment = true
        }

        var redirectConfiguration: RedirectConfiguration?
        var connectionPool = ConnectionPool()

        init(redirectConfiguration: RedirectConfiguration? = nil) {
            self.redirectConfiguration = redirectConfiguration
        }
    }

    private let state: Mutex<(steps: [Result<HTTPClientResponse, any Error>], sent: [HTTPClientRequest])>

    init(_ steps: [Result<HTTPClientResponse, any Error>]) { state = Mutex((steps, [])) }

    var sent: [HTTPClientRequest] { state.withLock { $0.sent } }

    func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
        try state.withLock { state in
            state.sent.append(request)
            return state.steps.removeFirst()
        }.get()
    }
}
