package import RelayBase
package import RelayEngine

extension Problem.Code {
    package var status: Status { meaning.status }
    package var title: String { meaning.title }

    private var meaning: (status: Status, title: String) {
        switch self {
        case .badRequest: (400, "The request is malformed")
        case .badHeader: (400, "A header field is not acceptable")
        case .badTarget: (400, "The request target is not acceptable")
        case .notAllowed: (403, "You may not do this")
        case .routeNotFound: (404, "There is no such route")
        case .jobNotFound: (404, "There is no such job")
        case .pathNotFound: (404, "There is nothing at this path")
        case .methodNotAllowed: (405, "The method is not allowed here")
        case .requestTimeout: (408, "The request took too long to arrive")
        case .contentTooLarge: (413, "The request body is too large")
        case .targetTooLong: (414, "The request target is too long")
        case .unsupportedMediaType: (415, "The request body has the wrong type")
        case .expectationFailed: (417, "The expectation cannot be met")
        case .headTooLarge: (431, "The request head is too large")
        case .invalidJob: (422, "The job is not valid")
        case .configRejected: (422, "The configuration is not valid")
        case .idempotencyKeyReused: (422, "The idempotency key belongs to another request")
        case .idempotencyInProgress: (409, "A request with this idempotency key is under way")
        case .jobState: (409, "The job is in another state")
        case .bodyExpired: (410, "The body is no longer kept")
        case .responseNotReady: (409, "There is no response yet")
        case .preconditionFailed: (412, "The job has changed")
        case .routePaused: (503, "The route is paused")
        case .queueFull: (503, "The queue is full")
        case .storageFull: (507, "There is no room on disk")
        case .storageFailed: (503, "The job store failed")
        case .storageStalled: (503, "The job store does not move")
        case .storageCorrupt: (500, "What was stored is damaged")
        case .rateLimited: (429, "Too many requests")
        case .internalError: (500, "The relay failed")
        case .notImplemented: (501, "The relay does not do this")
        case .versionNotSupported: (505, "The HTTP version is not supported")
        case .upstreamFailed: (502, "The upstream gave no answer")
        case .invalidResponse: (502, "The upstream's answer is not valid")
        case .credentialsFailed: (502, "The credentials could not be obtained")
        case .preparationFailed: (400, "The request could not be prepared")
        case .breakerOpen: (503, "The circuit breaker is open")
        case .overloaded: (503, "There is no room")
        case .draining: (503, "The relay is stopping")
        case .notStarted: (503, "The relay could not start")
        case .upstreamTimeout: (504, "The upstream did not answer in time")
        case .deadlineExceeded: (504, "The deadline has passed")
        case .loop: (508, "The request came round in a loop")
        }
    }
}
