package import RelayCore
package import RelayEngine

extension Problem.Code {
    package var status: Status {
        switch self {
        case .badRequest, .badHeader, .badTarget, .preparationFailed: 400
        case .notAllowed: 403
        case .routeNotFound, .jobNotFound, .pathNotFound: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .contentTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedMediaType: 415
        case .expectationFailed: 417
        case .idempotencyInProgress, .jobState, .responseNotReady: 409
        case .bodyExpired: 410
        case .preconditionFailed: 412
        case .invalidJob, .configRejected, .idempotencyKeyReused: 422
        case .rateLimited: 429
        case .headTooLarge: 431
        case .internalError, .storageCorrupt: 500
        case .notImplemented: 501
        case .upstreamFailed, .invalidResponse, .credentialsFailed: 502
        case .overloaded, .draining, .notStarted, .routePaused, .queueFull, .storageFailed,
            .storageStalled:
            503
        case .upstreamTimeout, .deadlineExceeded: 504
        case .versionNotSupported: 505
        case .storageFull: 507
        case .loop: 508
        }
    }

    package var title: String {
        switch self {
        case .badRequest: "The request is malformed"
        case .badHeader: "A header field is not acceptable"
        case .badTarget: "The request target is not acceptable"
        case .notAllowed: "You may not do this"
        case .routeNotFound: "There is no such route"
        case .jobNotFound: "There is no such job"
        case .pathNotFound: "There is nothing at this path"
        case .methodNotAllowed: "The method is not allowed here"
        case .requestTimeout: "The request took too long to arrive"
        case .contentTooLarge: "The request body is too large"
        case .targetTooLong: "The request target is too long"
        case .unsupportedMediaType: "The request body has the wrong type"
        case .expectationFailed: "The expectation cannot be met"
        case .headTooLarge: "The request head is too large"
        case .invalidJob: "The job is not valid"
        case .configRejected: "The configuration is not valid"
        case .idempotencyKeyReused: "The idempotency key belongs to another request"
        case .idempotencyInProgress: "A request with this idempotency key is under way"
        case .jobState: "The job is in another state"
        case .bodyExpired: "The body is no longer kept"
        case .responseNotReady: "There is no response yet"
        case .preconditionFailed: "The job has changed"
        case .routePaused: "The route is paused"
        case .queueFull: "The queue is full"
        case .storageFull: "There is no room on disk"
        case .storageFailed: "The job store failed"
        case .storageStalled: "The job store does not move"
        case .storageCorrupt: "What was stored is damaged"
        case .rateLimited: "Too many requests"
        case .internalError: "The relay failed"
        case .notImplemented: "The relay does not do this"
        case .versionNotSupported: "The HTTP version is not supported"
        case .upstreamFailed: "The upstream gave no answer"
        case .invalidResponse: "The upstream's answer is not valid"
        case .credentialsFailed: "The credentials could not be obtained"
        case .preparationFailed: "The request could not be prepared"
        case .overloaded: "There is no room"
        case .draining: "The relay is stopping"
        case .notStarted: "The relay could not start"
        case .upstreamTimeout: "The upstream did not answer in time"
        case .deadlineExceeded: "The deadline has passed"
        case .loop: "The request came round in a loop"
        }
    }
}
