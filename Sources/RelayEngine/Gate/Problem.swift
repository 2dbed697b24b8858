package import RelayBase

/// Why the relay does not do what it was asked; `code` is stable and documented.
package struct Problem: Error, Sendable {
    package let code: Code
    package let detail: String
    package var route: String?
    package var job: JobID?
    package var retryAfter: Duration?
    package let didYouMean: String?
    /// The methods that would be allowed.
    package let methods: [Method]
    /// The failure's kind, for `Proxy-Status`.
    package var kind: FailureKind?
    /// How far the request got, where it was the upstream that failed.
    package var sent: Sent?
    /// Whether the job failed for want of time: its deadline passed, or a rule's wait would have reached it.
    package var isPastDeadline = false
    /// The header field at fault, in lower case.
    package let field: String?
    /// Where a JSON job is wrong, as pointers with messages.
    package let errors: [(pointer: String, message: String, hint: String?)]

    package init(
        _ code: Code,
        _ detail: String,
        route: String? = nil,
        job: JobID? = nil,
        retryAfter: Duration? = nil,
        didYouMean: String? = nil,
        field: String? = nil,
        methods: [Method] = [],
        errors: [(pointer: String, message: String, hint: String?)] = []
    ) {
        self.code = code
        self.detail = detail
        self.route = route
        self.job = job
        self.retryAfter = retryAfter
        self.didYouMean = didYouMean
        self.field = field
        self.methods = methods
        self.errors = errors
    }

    /// One word for each thing that can go wrong here.
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
        /// The disk no longer holds what was stored.
        case storageCorrupt = "storage_corrupt"
        case rateLimited = "rate_limited"
        case internalError = "internal_error"
        case notImplemented = "not_implemented"
        case versionNotSupported = "version_not_supported"
        case upstreamFailed = "upstream_failed"
        case invalidResponse = "invalid_response"
        case credentialsFailed = "credentials_failed"
        case preparationFailed = "preparation_failed"
        case breakerOpen = "breaker_open"
        case overloaded = "overloaded"
        case draining = "draining"
        case notStarted = "not_started"
        case storageStalled = "storage_stalled"
        case upstreamTimeout = "upstream_timeout"
        case deadlineExceeded = "deadline_exceeded"
        case loop = "loop"
    }
}

extension Problem {
    /// The problem that a caller is told when a job failed and there is no answer of the upstream to pass on.
    package init(_ failure: Failure, route: String, job: JobID, tookAllTime: Bool) {
        let code: Code =
            switch failure.kind {
            case .preparation: .preparationFailed
            case .credentialsFailed: .credentialsFailed
            case .overloaded: .overloaded
            case .breakerOpen: failure.sent.mayHaveActed ? .upstreamFailed : .breakerOpen
            case .rateLimited: failure.sent.mayHaveActed ? .upstreamFailed : .rateLimited
            // The possible effect of an earlier attempt counts for more than why there is no other.
            case .storedBodyUnread: failure.sent.mayHaveActed ? .upstreamFailed : .storageFailed
            case .deadlineExceeded: .deadlineExceeded
            case .clientGone: .badRequest
            case .httpRequestError: .requestTimeout
            case .cancelled: .draining
            default:
                if tookAllTime {
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
        self.init(code, failure.detail, route: route, job: job)
        kind = failure.kind
        sent = failure.sent
        isPastDeadline = failure.isPastDeadline
        if [.overloaded, .breakerOpen, .rateLimited, .storageFailed, .draining].contains(code),
            failure.sent != .unknown
        {
            retryAfter = failure.retryAfter ?? .seconds(1)
        }
    }
}
