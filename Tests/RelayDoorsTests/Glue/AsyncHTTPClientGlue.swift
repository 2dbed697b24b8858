import RelayDoors
import RelayKit

/// The middleware's view of the types of AsyncHTTPClient; the content is bytes, from which each attempt's body is made
/// anew.
struct AsyncHTTPClientGlue: MiddlewareGlue {
    func method(of head: HTTPClientRequest) -> Method { Method(rawValue: head.method.rawValue) }

    func target(of head: HTTPClientRequest) -> String { head.url }

    func fields(of head: HTTPClientRequest) -> HeaderFields { HeaderFields(head.headers) }

    func head(_ head: HTTPClientRequest, with fields: HeaderFields) -> HTTPClientRequest {
        var head = head
        head.headers = HTTPHeaders(fields.pairs.map { ($0.name, $0.value) })
        return head
    }

    func status(of answer: HTTPClientResponse) -> Status { Status(rawValue: UInt16(answer.status.code)) }

    func fields(of answer: HTTPClientResponse) -> HeaderFields { HeaderFields(answer.headers) }

    func repeatable(_ body: [UInt8], upTo limit: Int) async throws -> [UInt8]? { body }

    func failure(for error: any Error) -> Failure? {
        guard let error = error as? HTTPClientError else { return nil }
        switch error {
        case .connectTimeout:
            return Failure(.connectionTimeout, sent: .neverSent, "the client could not connect in time")
        case .readTimeout: return Failure(.connectionReadTimeout, sent: .unknown, "nothing came in time")
        case .remoteConnectionClosed:
            return Failure(.connectionTerminated, sent: .unknown, "the connection ended before the answer")
        default: return nil
        }
    }
}

extension HeaderFields {
    init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers { append(name, value) }
    }
}

extension HTTPClient {
    /// Sends a request through the middleware.
    func execute(
        _ request: HTTPClientRequest,
        _ bytes: [UInt8] = [],
        through relay: RelayMiddleware<HTTPClientRequest, [UInt8], HTTPClientResponse>
    ) async throws -> HTTPClientResponse {
        try await relay.intercept(request, bytes) { request, bytes in
            var request = request
            if !bytes.isEmpty { request.body = .bytes(bytes) }
            return try await self.execute(request, timeout: .seconds(30))
        }
    }
}

extension HTTPClient.Configuration {
    /// A client that leaves recovery to the middleware: it follows no redirect and tries no connection twice.
    static var plain: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
