import RelayBase
public import RelayRoute

extension RecoveryRule {
    /// Sends again after a wait that grows.
    ///
    /// - Parameters:
    ///   - matcher: which failures; never-sent ones and answers 429 and 503 unless others are named.
    ///   - maxAttempts: attempts this rule may bring a job to, the first included; 1 to 100.
    ///   - backoff: how long to wait.
    ///   - honorsRetryAfter: whether the upstream's `Retry-After` replaces a shorter wait.
    ///   - maxRetryAfter: the longest wait a `Retry-After` can cause; not negative.
    ///   - methods: which requests may be repeated when the last attempt may have been carried out: it was not answered,
    ///     or with a failure other than 4xx and 503 with `Retry-After`.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func backoff(
        on matcher: FailureMatcher = [429, 503, .connection],
        maxAttempts: Int = 3,
        _ backoff: Backoff = Backoff(),
        honorsRetryAfter: Bool = true,
        maxRetryAfter: Duration = .seconds(60),
        methods: RepeatableMethods = .idempotentOrKeyed,
        name: String = "backoff"
    ) -> RecoveryRule {
        var policy = RetryPolicy()
        policy.maxAttempts = maxAttempts
        policy.backoff = backoff
        policy.honorsRetryAfter = honorsRetryAfter
        policy.maxRetryAfter = maxRetryAfter
        policy.methods = methods
        return RecoveryRule(name: name, on: matcher, action: .retry(policy))
    }

    /// Fetches a new credential and sends again; jobs that meet the same refusal share one fetch.
    ///
    /// - Parameters:
    ///   - matcher: which failures; answers 401 unless others are named.
    ///   - maxTimes: how often a job may do so; 1 to 10.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func reauthorize(
        on matcher: FailureMatcher = [401],
        maxTimes: Int = 1,
        name: String = "reauthorize"
    ) -> RecoveryRule {
        RecoveryRule(name: name, on: matcher, action: .refreshCredentials(maxTimes: maxTimes))
    }

    /// Goes on with another upstream of the policy; each is entered once a job, and the first never again.
    ///
    /// - Parameters:
    ///   - upstream: its place in the policy's list, from 1.
    ///   - matcher: which failures; everything that rules above have given up unless others are named.
    ///   - methods: which requests may go there when the last attempt may have been carried out.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func failover(
        to upstream: Int,
        on matcher: FailureMatcher = [.exhausted],
        methods: RepeatableMethods = .idempotentOrKeyed,
        name: String = "failover"
    ) -> RecoveryRule {
        RecoveryRule(name: name, on: matcher, action: .failover(upstream: upstream, methods: methods))
    }

    /// Answers with the last good answer to the same request; passes on where none is kept.
    ///
    /// - Parameters:
    ///   - matcher: which failures; all unless some are named.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func stale(on matcher: FailureMatcher = [.any], name: String = "stale") -> RecoveryRule {
        RecoveryRule(name: name, on: matcher, action: .respondStale)
    }

    /// Answers with something as good as the upstream's answer, which the request then transforms like any other.
    ///
    /// The outcome's source is ``AnswerSource/fallback``.
    ///
    /// - Parameters:
    ///   - answer: status, fields and content.
    ///   - matcher: which failures; all unless some are named.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func fallback(
        _ answer: CannedAnswer,
        on matcher: FailureMatcher = [.any],
        name: String = "fallback"
    ) -> RecoveryRule {
        RecoveryRule(name: name, on: matcher, action: .respond(CannedResponse(answer, as: .fallback)))
    }

    /// Answers with something that only keeps the caller going, which the request then transforms like any other.
    ///
    /// The outcome's source is ``AnswerSource/placeholder``.
    ///
    /// - Parameters:
    ///   - answer: status, fields and content.
    ///   - matcher: which failures; all unless some are named.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func placeholder(
        _ answer: CannedAnswer,
        on matcher: FailureMatcher = [.any],
        name: String = "placeholder"
    ) -> RecoveryRule {
        RecoveryRule(name: name, on: matcher, action: .respond(CannedResponse(answer, as: .placeholder)))
    }

    /// Ends the job with its failure.
    ///
    /// - Parameters:
    ///   - matcher: which failures.
    ///   - name: stands in the timeline.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func fail(on matcher: FailureMatcher, name: String = "fail") -> RecoveryRule {
        RecoveryRule(name: name, on: matcher, action: .fail)
    }

    /// Asks a strategy of the program's own.
    ///
    /// - Parameters:
    ///   - strategy: what decides; its name stands in the timeline.
    ///   - matcher: which failures it is asked about; all unless some are named.
    ///   - methods: which requests it may repeat when the last attempt may have been carried out.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func strategy(
        _ strategy: any RecoveryStrategy,
        on matcher: FailureMatcher = [.any],
        methods: RepeatableMethods = .idempotentOrKeyed
    ) -> RecoveryRule {
        RecoveryRule(name: strategy.name, on: matcher, action: .consult(strategy, methods: methods))
    }

    /// Asks a strategy of the program's own that sees requests as the program wrote them.
    ///
    /// - Parameters:
    ///   - strategy: what decides; its name stands in the timeline.
    ///   - matcher: which failures it is asked about; all unless some are named.
    ///   - methods: which requests it may repeat when the last attempt may have been carried out.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func strategy(
        _ strategy: some RequestStrategy,
        on matcher: FailureMatcher = [.any],
        methods: RepeatableMethods = .idempotentOrKeyed
    ) -> RecoveryRule {
        .strategy(RequestAdviser(strategy), on: matcher, methods: methods)
    }

    /// Asks a closure about requests of one type; those of any other pass it.
    ///
    /// - Parameters:
    ///   - name: stands in the timeline.
    ///   - matcher: which failures it is asked about; all unless some are named.
    ///   - methods: which requests it may repeat when the last attempt may have been carried out.
    ///   - body: decides, as ``RequestStrategy`` does.
    /// - Returns: the rule, for a policy's `recovery`.
    public static func recovering<Response, ServerError>(
        _ name: String = "recovering",
        on matcher: FailureMatcher = [.any],
        methods: RepeatableMethods = .idempotentOrKeyed,
        _ body:
            @escaping @Sendable (FailedRequest<Response, ServerError>, RecoveryContext) async
            -> RequestDisposition<Response, ServerError>
    ) -> RecoveryRule {
        .strategy(ClosureStrategy(name: name, body: body), on: matcher, methods: methods)
    }
}

extension FailureMatcher: ExpressibleByArrayLiteral {
    /// The failures that any of the tokens names.
    public init(arrayLiteral tokens: Token...) { self.init(tokens) }
}

extension FailureMatcher.Token: ExpressibleByIntegerLiteral {
    /// Answers with that status.
    public init(integerLiteral status: UInt16) { self = .status(Status(rawValue: status)) }

    /// Failures of the connection: look-up, connect, reset.
    public static let connection: FailureMatcher.Token = .group(.connection)
    /// Steps that took too long.
    public static let timeout: FailureMatcher.Token = .group(.timeout)
    /// Answers 500 to 599.
    public static let serverError: FailureMatcher.Token = .statusClass(.serverError)
    /// Answers 400 to 499.
    public static let clientError: FailureMatcher.Token = .statusClass(.clientError)
    /// Answers 300 to 399.
    public static let redirection: FailureMatcher.Token = .statusClass(.redirection)
}
