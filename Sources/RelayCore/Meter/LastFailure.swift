package import RelayBase

/// The latest failure, as a route and each of its upstreams remember it.
package struct LastFailure: Sendable {
    package let kind: FailureKind
    package let status: Status?
    package let detail: String
    /// When it was, in seconds since 1970 UTC.
    package let wallSeconds: Int64

    package init(_ failure: Failure, wallSeconds: Int64) {
        kind = failure.kind
        status = failure.status
        detail = failure.detail
        self.wallSeconds = wallSeconds
    }
}

extension FailureKind {
    /// Whether it tells of the upstream that an attempt was meant for, and not of what kept the attempt from it.
    package var tellsOfUpstream: Bool {
        switch self {
        case .breakerOpen, .rateLimited, .networkConstrained, .routeClosed, .overloaded, .credentialsFailed,
            .preparation,
            .cancelled,
            .clientGone, .httpRequestError, .interrupted:
            false
        default: true
        }
    }
}
