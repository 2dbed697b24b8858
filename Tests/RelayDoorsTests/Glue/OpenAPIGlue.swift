import FoundationEssentials
import RelayDoors
import RelayKit

/// The middleware's view of the types of a generated client.
struct OpenAPIGlue: MiddlewareGlue {
    typealias Answer = (HTTPTypes.HTTPResponse, HTTPBody?)

    func method(of head: HTTPTypes.HTTPRequest) -> Method { Method(rawValue: head.method.rawValue) }

    func target(of head: HTTPTypes.HTTPRequest) -> String { head.path ?? "/" }

    func fields(of head: HTTPTypes.HTTPRequest) -> HeaderFields { HeaderFields(head.headerFields) }

    func head(_ head: HTTPTypes.HTTPRequest, with fields: HeaderFields) -> HTTPTypes.HTTPRequest {
        var head = head
        head.headerFields = HTTPTypes.HTTPFields(fields)
        return head
    }

    func status(of answer: Answer) -> Status { Status(rawValue: UInt16(answer.0.status.code)) }

    func fields(of answer: Answer) -> HeaderFields { HeaderFields(answer.0.headerFields) }

    func repeatable(_ body: HTTPBody?, upTo limit: Int) async throws -> HTTPBody?? {
        guard let body, body.iterationBehavior == .single else { return .some(body) }
        guard case .known(let length) = body.length, length <= Int64(limit) else { return nil }
        return HTTPBody(try await [UInt8](collecting: body, upTo: limit))
    }
}

extension HeaderFields {
    init(_ fields: HTTPTypes.HTTPFields) {
        self.init()
        for field in fields { append(field.name.rawName, field.value) }
    }
}

extension HTTPTypes.HTTPFields {
    init(_ fields: HeaderFields) {
        self.init(
            fields.pairs.compactMap { name, value in
                HTTPTypes.HTTPField.Name(name).map { HTTPTypes.HTTPField(name: $0, value: value) }
            }
        )
    }
}

/// The middleware of a generated client: `Client(serverURL: url, transport: transport, middlewares: [recovery])`.
struct Recovery: ClientMiddleware {
    let relay: RelayMiddleware<HTTPTypes.HTTPRequest, HTTPBody?, (HTTPTypes.HTTPResponse, HTTPBody?)>

    func intercept(
        _ request: HTTPTypes.HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String,
        next:
            @Sendable (HTTPTypes.HTTPRequest, HTTPBody?, URL) async throws -> (
                HTTPTypes.HTTPResponse, HTTPBody?
            )
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
        try await relay.intercept(request, body) { request, body in
            try await next(request, body, baseURL)
        }
    }
}

extension Recovery {
    /// A token that is fetched when one is wanted, waits for what passes, and a breaker and a budget, which are on.
    init(fetchingToken fetch: @escaping @Sendable () async throws -> String) throws {
        relay = try RelayMiddleware(
            OpenAPIGlue(),
            credentials: [CredentialDefinition("login") { AccessToken(try await fetch()) }]
        ) { policy in
            policy.authentication = Authentication(form: .bearer, credential: "login")
            policy.recovery = [.reauthorize(), .backoff(on: [429, 503, .connection, .timeout])]
        }
    }
}
