package import RelayBase
package import RelayInterface

/// An error that the relay answers itself, as a problem document (RFC 9457).
package struct Problem: Error, Sendable {
    package let code: Code
    package let detail: String
    package var route: String?
    package var job: JobID?
    package var retryAfter: Duration?
    package let didYouMean: String?
    /// The methods that the resource has, for the field `Allow`.
    package let methods: [Method]
    /// The kind of the job's failure.
    package var kind: FailureKind?
    /// How far the request got; nil where no job has failed.
    package var sent: Sent?
    /// Whether the job had no time left: its deadline passed, or the next wait would have passed it.
    package var isPastDeadline = false
    /// The header field at fault, in lower case.
    package let field: String?
    /// The mistakes in a JSON document, each with its place as a JSON pointer.
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
    /// The problem for a caller whose job failed, where there is no answer of the upstream to pass on.
    ///
    /// `tookAllTime` is false where the relay gave up early since the next wait would have been too long; one that may
    /// have been carried out is asked for again only where it `isRepeatable` and that may help.
    package init(
        _ failure: Failure,
        route: String,
        job: JobID,
        tookAllTime: Bool,
        isRepeatable: Bool = false
    ) {
        let code: Code =
            switch failure.kind {
            case .preparation: .preparationFailed
            case .credentialsFailed: .credentialsFailed
            case .overloaded: .overloaded
            // An earlier attempt may have acted: that counts for more than the reason why there is no other.
            case .breakerOpen: failure.sent.mayHaveActed ? .upstreamFailed : .breakerOpen
            case .routeClosed: failure.sent.mayHaveActed ? .upstreamFailed : .routeClosed
            case .networkConstrained: failure.sent.mayHaveActed ? .upstreamFailed : .networkConstrained
            case .rateLimited: failure.sent.mayHaveActed ? .upstreamFailed : .rateLimited
            case .storedBodyUnread, .storedBodyCorrupt:
                failure.sent.mayHaveActed ? .upstreamFailed : .storageFailed
            case .deadlineExceeded: .deadlineExceeded
            case .clientGone: .badRequest
            case .httpRequestError: .requestTimeout
            case .cancelled: .draining
            default:
                if tookAllTime {
                    .deadlineExceeded
                } else if FailureGroup.timeout.contains(failure.kind) {
                    .upstreamTimeout
                } else if failure.kind.endsBeforeSending {
                    // An earlier attempt may have been answered; the last one never got that far.
                    .upstreamFailed
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
        if [.overloaded, .breakerOpen, .rateLimited, .routeClosed, .storageFailed, .draining].contains(code),
            !failure.sent.mayHaveActed || isRepeatable && failure.retryAfter != nil,
            failure.kind != .storedBodyCorrupt
        {
            retryAfter = failure.retryAfter ?? .seconds(1)
        }
    }
}

extension FailureKind {
    /// Whether an attempt that fails like that has no connection to be sent on.
    fileprivate var endsBeforeSending: Bool {
        self != .connectionTerminated
            && [FailureGroup.dns, .connection, .tls].contains { $0.contains(self) }
    }
}
