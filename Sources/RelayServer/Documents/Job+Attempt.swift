import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

extension Job.Attempt {
    /// An attempt; `start` is when its job was accepted, or first tried, in milliseconds since 1970.
    init(_ attempt: Attempt, since start: Int64) {
        self.init()
        number = attempt.number
        upstream = attempt.upstream
        address = attempt.exchange?.address
        startedAt = WallTime(milliseconds: attempt.beganAt)
        startedAfter = max(0, attempt.beganAt.subtractingSaturating(start))
        isResent = attempt.exchange?.wasResent == true
        // Nobody knows how long an attempt took that a crash cut short.
        if attempt.failure?.kind != .interrupted {
            time = attempt.duration
            timing = attempt.exchange.map { Timing($0) }
        }
        result = Result(attempt.failure?.kind).rawValue
        status = attempt.status
        if let failure = attempt.failure {
            kind = failure.kind.rawValue
            cause = failure.cause.rawValue
            sent = failure.sent.rawValue
            detail = failure.detail
            apiCode = failure.apiCode
            apiTitle = failure.apiTitle.map { UpstreamText.text($0) }
        }
        rule = attempt.rule
        isSpent = attempt.isSpent
        heldBack = attempt.heldBack.map { Held($0) }
        guard let decision = attempt.next else { return }
        next = decision.name
        switch decision {
        case .retry(let after): wait = after
        case .failover(let other): nextUpstream = other
        case .respond(let source), .respondAndKeep(let source): nextSource = source.rawValue
        case .refreshCredentials, .quickRecovery, .fail, .deadLetter, .pauseRoute, .hold: break
        }
    }
}

extension Job.Attempt.Result {
    fileprivate init(_ kind: FailureKind?) {
        switch kind {
        case nil: self = .success
        case .cancelled?: self = .cancelled
        case .interrupted?: self = .interrupted
        case _?: self = .failure
        }
    }
}

extension Job.Attempt.Timing {
    fileprivate init(_ exchange: Exchange) {
        self.init()
        nameLookup = exchange.nameLookup
        connect = exchange.connect
        firstByte = exchange.firstByte
    }
}

extension Job.Attempt.Held {
    fileprivate init(_ held: HeldBack) {
        self.init()
        rule = held.rule
        reason = held.reason.text
    }
}

extension Job.Failure {
    /// A failure, wherever the API tells of one.
    init(_ failure: Failure, of upstream: String? = nil) {
        self.init()
        kind = failure.kind.rawValue
        text = failure.detail
        sent = failure.sent.rawValue
        status = failure.status
        apiCode = failure.apiCode
        apiTitle = failure.apiTitle.map { UpstreamText.text($0) }
        isPastDeadline = failure.isPastDeadline
        self.upstream = upstream
    }
}

/// A part of the attempts of a job.
struct AttemptList: Document {
    let attempts: [Job.Attempt]
    let next: Int?

    static let members: [Member<AttemptList>] = [
        .required("attempts", .list(.named("Attempt")), "Oldest first.") { $0.attempts },
        .required("next", .orNull(.integer(1...)), "What after is for the rest.") { $0.next },
    ]
}
