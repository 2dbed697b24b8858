package import RelayCore
import RelayJSON

/// An error the relay itself answers with (RFC 9457); `code` is stable and documented.
package struct Problem: Error, Sendable {
    package let code: Code
    package let detail: String
    package var route: String?
    package var job: JobID?
    package var retryAfter: Duration?
    package var didYouMean: String?
    /// Methods for the `Allow` field of a 405.
    package var allow: String?
    /// The failure's kind, for `Proxy-Status`.
    package var kind: FailureKind?
    /// How far the request got, where it was the upstream that failed.
    package var sent: Sent?
    /// Whether the job failed for want of time: its deadline passed, or a rule's wait would have reached it.
    package var isPastDeadline = false
    /// The header field at fault, in lower case.
    package var field: String?
    /// Where a JSON job is wrong, as pointers with messages.
    package var errors: [(pointer: String, message: String, hint: String?)] = []
    /// Replaces the code's usual status.
    package var statusOverride: Status?

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var status: Status { statusOverride ?? code.status }

    /// One word for each thing that can go wrong here, with its status and title.
    package enum Code: String, CaseIterable, Sendable {
        case badRequest = "bad_request"
        case badHeader = "bad_header"
        case badTarget = "bad_target"
        case notAllowed = "not_allowed"
        case routeNotFound = "route_not_found"
        case jobNotFound = "job_not_found"
        case pathNotFound = "path_not_found"
        case methodNotAllowed = "method_not_allowed"
        case requestTimeout = "request_timeout"
        case contentTooLarge = "content_too_large"
        case targetTooLong = "target_too_long"
        case unsupportedMediaType = "unsupported_media_type"
        case expectationFailed = "expectation_failed"
        case headTooLarge = "head_too_large"
        case invalidJob = "invalid_job"
        case configRejected = "config_rejected"
        case idempotencyKeyReused = "idempotency_key_reused"
        case idempotencyInProgress = "idempotency_in_progress"
        /// The job is in a state in which it cannot be done.
        case jobState = "job_state"
        case bodyExpired = "body_expired"
        case responseNotReady = "response_not_ready"
        case preconditionFailed = "precondition_failed"
        case routePaused = "route_paused"
        case queueFull = "queue_full"
        case storageFull = "storage_full"
        case storageFailed = "storage_failed"
        /// What was stored is no longer what is on disk.
        case storageCorrupt = "storage_corrupt"
        case rateLimited = "rate_limited"
        case internalError = "internal_error"
        case notImplemented = "not_implemented"
        case versionNotSupported = "version_not_supported"
        case upstreamFailed = "upstream_failed"
        case invalidResponse = "invalid_response"
        case credentialsFailed = "credentials_failed"
        case preparationFailed = "preparation_failed"
        case overloaded = "overloaded"
        case draining = "draining"
        case notStarted = "not_started"
        case storageStalled = "storage_stalled"
        case upstreamTimeout = "upstream_timeout"
        case deadlineExceeded = "deadline_exceeded"
        case loop = "loop"

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

    /// The document, `application/problem+json`.
    package var body: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("type", .string("urn:waystation:problem:\(code.rawValue)")),
            .init("title", .string(code.title)),
            .init("status", .number(JSONNumber(text: "\(status.rawValue)"))),
            .init("code", .string(code.rawValue)),
            .init("detail", .string(detail)),
        ]
        if let route { members.append(.init("route", .string(route))) }
        if let job { members.append(.init("job", .string(job.description))) }
        if let kind { members.append(.init("kind", .string(kind.rawValue))) }
        if let sent { members.append(.init("sent", .string(sent.rawValue))) }
        if isPastDeadline { members.append(.init("past_deadline", .bool(true))) }
        if let didYouMean { members.append(.init("did_you_mean", .string(didYouMean))) }
        if let retryAfter {
            let milliseconds = retryAfter.saturatedNanoseconds / 1_000_000
            members.append(.init("retry_after_ms", .number(JSONNumber(text: "\(milliseconds)"))))
        }
        if !errors.isEmpty {
            let list = errors.map { error in
                var entry: [JSONValue.Member] = [
                    .init("pointer", .string(error.pointer)), .init("message", .string(error.message)),
                ]
                if let hint = error.hint { entry.append(.init("hint", .string(hint))) }
                return JSONValue.object(entry)
            }
            members.append(.init("errors", .array(list)))
        }
        return JSONValue.object(members).encoded()
    }
}

extension Problem {
    /// What a caller is told when a job failed and there is no answer of the upstream to pass on.
    package init(_ failure: Failure, route: String, job: JobID, pastDeadline: Bool) {
        let code: Code =
            switch failure.kind {
            case .preparation: .preparationFailed
            case .credentialsFailed: .credentialsFailed
            case .overloaded: .overloaded
            // What an earlier attempt may have done counts for more than why there is no other.
            case .storedBodyUnread: failure.sent.mayHaveActed ? .upstreamFailed : .storageFailed
            case .deadlineExceeded: .deadlineExceeded
            case .clientGone: .badRequest
            case .cancelled: .draining
            default:
                if pastDeadline {
                    .deadlineExceeded
                } else if FailureGroup.timeout.contains(failure.kind) {
                    .upstreamTimeout
                } else if failure.sent == .answered || failure.sent == .refused
                    || FailureGroup.protocol.contains(failure.kind)
                {
                    .invalidResponse
                } else {
                    .upstreamFailed
                }
            }
        self.init(code, failure.detail)
        self.route = route
        self.job = job
        kind = failure.kind
        sent = failure.sent
        isPastDeadline = failure.isPastDeadline
        if code.status == 503, failure.sent != .unknown { retryAfter = failure.retryAfter ?? .seconds(1) }
    }
}
