// Declarations in the shape of swift-openapi-runtime 1: as much as the glue touches.
import FoundationEssentials

final class HTTPBody: Sendable {
    enum Length: Sendable {
        case unknown
        case known(Int64)
    }

    enum IterationBehavior: Sendable {
        case single
        case multiple
    }

    let length: Length
    let iterationBehavior: IterationBehavior
    let bytes: [UInt8]

    init(_ bytes: [UInt8], length: Length? = nil, iterationBehavior: IterationBehavior = .multiple) {
        self.bytes = bytes
        self.length = length ?? .known(Int64(bytes.count))
        self.iterationBehavior = iterationBehavior
    }
}

extension [UInt8] {
    init(collecting body: HTTPBody, upTo limit: Int) async throws { self = body.bytes }
}

protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPTypes.HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String,
        next:
            @Sendable (HTTPTypes.HTTPRequest, HTTPBody?, URL) async throws -> (
                HTTPTypes.HTTPResponse, HTTPBody?
            )
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?)
}
