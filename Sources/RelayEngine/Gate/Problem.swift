package import RelayBase
package import RelayInterface

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

    package typealias Code = ProblemCode
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
