/// The cause of a failed attempt, which decides what the attempt counts for.
///
/// | cause | what happened | what it counts for |
/// |---|---|---|
/// | `upstream` | no name, no connection, an answer cut short or stalled, none in time, 502, 504, or 503 without `Retry-After` | circuit breaker, window, budget |
/// | `too_many` | 429, or 503 with `Retry-After`; of a kept job without rules also 503 beside others that are answered | window, pace and holds |
/// | `request` | a complete answer of any other status, an error document, a failed validation | nothing, unless `circuit_breaker.on` names the status |
/// | `caller` | the body did not come, or the caller gave up sooner than the upstream usually answers | nothing |
/// | `relay` | descriptors, memory, disk, a credential that could not be fetched, what the relay held back | nothing |
public enum FailureCause: String, CaseIterable, Sendable {
    /// The upstream is not there, or does not answer as a server does that is well.
    case upstream
    /// The upstream says that it is asked too much.
    case tooMany = "too_many"
    /// The upstream is there, and does not like the request.
    case request
    /// The caller did not do its part, or gave up early.
    case caller
    /// The relay lacked something, or held the request back.
    case relay
}

extension Failure {
    /// The cause as far as the failure alone says; how long its caller waited says more where it gave up.
    public var cause: FailureCause {
        if let cause = blamed { return cause }
        if isCallers { return .caller }
        if isOfRelay { return .relay }
        if isCutOff { return .upstream }
        guard let status else { return saysUpstreamFailed ? .upstream : .request }
        if saysStop { return .request }
        return switch status {
        case 429: .tooMany
        case 503: retryAfter == nil ? .upstream : .tooMany
        case 502, 504: .upstream
        default: .request
        }
    }

    /// Whether the upstream did not answer, or not to the end.
    package var isCutOff: Bool {
        FailureGroup.timeout.contains(kind) || FailureGroup.connection.contains(kind)
            || kind == .httpResponseIncomplete
    }

    /// Whether the fault is on this side: nothing was sent for want of a descriptor, of memory, of a credential.
    private var isOfRelay: Bool {
        if status != nil { return false }
        return switch kind {
        // Its time was over on this side of the wire, as when the disk was slow to take its record.
        case .httpResponseTimeout: sent == .neverSent
        case .preparation, .credentialsFailed, .overloaded, .connectionLimitReached, .destinationIPProhibited,
            .deadlineExceeded, .interrupted, .breakerOpen, .rateLimited, .networkConstrained,
            .routeClosed, .storedBodyCorrupt,
            .storedBodyUnread,
            .attemptUnrecorded:
            true
        default: false
        }
    }
}

extension Failure {
    /// Whether it is an answer by which its upstream says not to come again with the request: it works, and knows.
    package var saysStop: Bool { status != nil && isRetryable == false }

    /// Whether the failure is the upstream's, so that another request to it would likely fare no better.
    package var saysUpstreamFailed: Bool {
        if let status { return status.class == .serverError }
        return FailureGroup.allCases.contains { $0.contains(kind) }
    }
}

extension Failure {
    /// Whether the relay itself held the attempt back, for a reason that is the route's and not the job's.
    package var isHold: Bool {
        sent == .neverSent && (kind == .breakerOpen || kind == .rateLimited || kind == .routeClosed)
    }

    /// Whether nothing was sent by a rule of the relay's own, which says nothing of the upstream or of the request.
    package var isOwnRefusal: Bool { isHold || sent == .neverSent && kind == .networkConstrained }

    /// Whether its attempt went nowhere, so that there is no place to name.
    package var isFromBeforeDialling: Bool {
        isOwnRefusal || kind == .preparation || kind == .credentialsFailed
    }
}
