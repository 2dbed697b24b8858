package import RelayBase
import RelayEngine
package import RelayInterface
import RelayJobs

extension Job.Attempt {
    /// Takes `start`, when a kept job was accepted or another one first tried, in milliseconds since 1970 UTC.
    package init(_ attempt: Attempt, since start: Int64) {
        self.init()
        number = attempt.number
        upstream = attempt.upstream
        address = attempt.exchange?.address
        node = attempt.node.text
        startedAt = WallTime(milliseconds: attempt.beganAt)
        // The wall clock may have been set back since.
        startedAfter = max(0, attempt.beganAt.subtractingSaturating(start))
        isResent = attempt.exchange?.wasResent == true
        // A crash cut the attempt short: how long it took is not known.
        if attempt.failure?.kind != .interrupted {
            time = attempt.duration
            timing = attempt.exchange.map { Timing($0) }
        }
        result = Result(attempt.failure?.kind).rawValue
        status = attempt.status
        if let failure = attempt.failure {
            kind = failure.kind.rawValue
            cause = attempt.wasOutrun ? nil : failure.cause.rawValue
            sent = failure.sent.rawValue
            detail = failure.detail
            apiCode = failure.apiCode
            apiTitle = failure.apiTitle.map { UpstreamText.text($0) }
        }
        lookUp = attempt.lookUp?.rawValue
        rule = attempt.rule
        isSpent = attempt.isSpent
        heldBack = attempt.heldBack.map { Held($0) }
        guard let decision = attempt.next else { return }
        next = decision.name
        switch decision {
        case .retry(let after), .verify(let after): wait = after
        case .follow(let after, let address):
            wait = after
            operation = address.map { String($0.prefix { $0 != "?" && $0 != "#" && $0 != " " }) }
        case .failover(let other): nextUpstream = other
        case .respond(let source), .respondAndKeep(let source): nextSource = source.rawValue
        case .refreshCredentials, .quickRecovery, .hedge, .fail, .deadLetter, .pauseRoute, .hold: break
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
    /// The failure in documents of the API; `upstream` failed, where the document names it.
    package init(_ failure: Failure, of upstream: String? = nil) {
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

/// One page of the attempts of a job.
struct AttemptList: Document {
    let attempts: [Job.Attempt]
    let next: Int?

    static let members: [Member<AttemptList>] = [
        .required("attempts", .list(.named("Attempt")), "Oldest first.") { $0.attempts },
        .required(
            "next",
            .orNull(.integer(1...)),
            "The value of `after` for the next page; null on the last one."
        ) { $0.next },
    ]
}
